"""Turns two of three generated requests into ones that the gateway passes on to the appliance."""

from itertools import count

import schemathesis

# What simulator/scenes/busy.ts has, by the part of the path before it, or else by the parameter.
NAMES = {
    "backend": "0",
    "certificate": "shop_example_com.pem",
    "file": "shop_example_com.pem",
    "farm": "shop",
    "farmguardian": "shop-http",
    "farmname": "shop",
    "fg": "shop-http",
    "frequency": "d",
    "group": "watchers",
    "index": "0",
    "interface": "eth0",
    "mount": "root",
    "service": "front",
    "set": "base-rules",
    "user": "watcher",
}
NAMES_AFTER = {
    "backup": "before-upgrade",
    "blacklists": "bad-neighbours",
    "dos": "slow-down",
    "fg": "shop-http",
    "interfaces": "eth0",
    "nic": "eth0",
    "virtual": "eth0:web",
}
number = count()


@schemathesis.hook
def before_call(context, case, kwargs):
    if next(number) % 3 == 0:
        return
    parts = case.path.strip("/").split("/")
    for before, part in zip(parts, parts[1:]):
        name = part.strip("{}")
        if name in (case.path_parameters or {}):
            known = NAMES_AFTER.get(before) if name == "name" else NAMES.get(name)
            case.path_parameters[name] = known or case.path_parameters[name]
    last = case.formatted_path.rstrip("/").split("/")[-1]
    headers = {"X-Reason": "a generated request", "X-Force": "true", "X-Confirm": last}
    # What is deleted would be missing from then on.
    if case.method.upper() == "DELETE":
        headers["X-Dry-Run"] = "true"
    case.headers.update(headers)
