import contextvars
var = contextvars.ContextVar("var", default=0)
def set_it():
    var.set(3)
def look():
    if var.get() == 3:
        print("ctx")
def inner():
    tok = var.set(5)
    look5()
    var.reset(tok)
def look5():
    if var.get() == 5:
        print("ctx5")


def run():
    inner()
    ctx = contextvars.copy_context()
    ctx.run(set_it)
    ctx.run(look)
