class C:
    def __init__(self):
        self.on = False
        self.err = None
    def load(self):
        try:
            self.on = True
            self.look()
            raise ValueError("x")
        except ValueError as e:
            self.err = e
        finally:
            self.on = False
    def look(self):
        if self.on:
            print("tryfin")
        if self.err:
            print("never here")
    def after(self):
        if self.err:
            print("err")
        if self.on:
            print("not on")


def run():
    c = C()
    c.load()
    c.after()
