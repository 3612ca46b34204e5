class C:
    _cache = None
    @classmethod
    def get_(cls):
        if cls._cache is None:
            cls._cache = cls()
        else:
            print("cached")
        return cls._cache


def run():
    C.get_(); C.get_()
