import dataclasses
from dataclasses import dataclass, field
from typing import List, Optional


@dataclass
class Config:
    mode: Optional[str] = None
    size: int = 1
    tags: List[str] = field(default_factory=list)

    def __post_init__(self):
        if self.mode is None:
            self.mode = "auto"
        if self.size > 1:
            self.tags.append("big")
        self.settle()

    def settle(self):
        if self.mode == "auto":
            self.size = 4
        else:
            self.size = 2


def main():
    config = Config(size=1)
    if config.size == 4 and not config.tags:
        x = 1  # always
    if Config.size == 4:
        x = 2  # never
    other = dataclasses.replace(config, mode="b")
    if other.mode == "auto":
        x = 3
    if "mode" in {f.name for f in dataclasses.fields(config)}:
        x = 4
    return x  # always


def start():
    main()


start()
