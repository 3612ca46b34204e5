"""Plan, fan out, synthesise: the only writer of an Investigation."""

from agent.orchestrator.investigation import investigate
from agent.orchestrator.request import Model, OpenEngine, Progress, Request, Silence, Tools
from agent.orchestrator.session import Session, open_session

__all__ = ["Model", "OpenEngine", "Progress", "Request", "Session", "Silence", "Tools", "investigate", "open_session"]
