class C:
    def check(self):
        if not hasattr(self, "on"):
            print("first")
            self.on = 1
        else:
            print("second")


def run():
    c = C()
    c.check(); c.check()
