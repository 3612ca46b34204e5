class C:
    def work(self, on=False):
        if on:
            print("c18")
    again = work


def run():
    C().again(True)
