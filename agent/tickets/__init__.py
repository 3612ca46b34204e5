"""One file per tracker."""
