"""try, with: what is caught, what is swallowed, what leaves from within."""
import contextlib


def handlers(a):
    try:
        x = f()  #@
        y = 1  #@
    except ValueError:
        x = 2  #@ except: raises ValueError
    except (KeyError, OSError) as error:
        x = 3  #@ except: raises (KeyError, OSError)
    except:
        x = 4  #@ except: raises
    else:
        x = 5  #@ except: not raises
    finally:
        x = 6  #@
    return x  #@


def return_in_body():
    try:
        import torch
        return True
    except ImportError:
        pass
    return False  #@ except: raises


def return_in_body_and_handlers():
    try:
        return f()
    except ImportError:
        return 1
    return 2  #@ early_exit: never


def handlers_leave(a):
    try:
        x = f()
    except ValueError:
        return 1
    return x  #@ except: not raises


def early_exit_in_body(a):
    try:
        if a:
            return 1
        x = 1  #@ early_exit: not a
    except ValueError:
        x = 2
    return x  #@ early_exit: not a unless raises


def else_after_exit(a):
    try:
        if a:
            return 1
    except ValueError:
        x = 2
    else:
        x = 3  #@ early_exit: not a; except: not raises


def finally_returns(a):
    try:
        f()
    finally:
        return 1
    return 2  #@ early_exit: never


def finally_only(a):
    try:
        if a:
            return 1
    finally:
        f()  #@
    return 2  #@ early_exit: not a


def plain_with(a, lock):
    with lock:
        if a:
            return 1
        x = 1  #@ with: enters lock; early_exit: not a
    return x  #@ early_exit: not a


def swallowing_with(a):
    with contextlib.suppress(ValueError):
        return f()
    return None  #@ with: raises


def swallowing_with_branch(a):
    with contextlib.suppress(ValueError):
        if a:
            raise ValueError
    return None  #@ early_exit: not a unless raises


def handler_type(a):
    try:
        f()
    except here():  #@ except: raises here()
        pass
