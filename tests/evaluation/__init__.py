"""Tests of the engine over one tree under one launch."""
