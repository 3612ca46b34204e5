"""One fact family each: the commands that ask and the parser that answers; pure."""
