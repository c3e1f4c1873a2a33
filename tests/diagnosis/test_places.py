"""The places of slices that changed are those that are found by looking at all of them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from k8s_topo_mcp.diagnosis.places import Places
from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.dra.visible import Visible
from k8s_topo_mcp.objects import ResourceSlice

from .clusters import cluster, gpus, pool


def of_pool(entry: ResourceSlice) -> Visible:
    return Pool(entry.driver, entry.pool, entry.generation, "usable", "", (entry,)), entry


@pytest.mark.parametrize("few", [0, 16])
def test_places_follow_slices_that_change_move_and_join_other_pools(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("k8s_topo_mcp.diagnosis.places.FEW_CHANGES", few)
    dice = random.Random(9)
    view = cluster(*(pool(gpus(1), f"n{number // 2}", name=f"s{number}") for number in range(40)))
    slices = [of_pool(entry) for entry in view.all(ResourceSlice)]
    places, changed = Places.of(slices), 0
    for _ in range(200):
        now = [(of_pool(pair[1]) if dice.random() < 0.1 else (pair[0], pair[1])) if dice.random() < 0.2 else pair for pair in slices]
        for _ in range(dice.choice((0, 1, 2))):
            at, other = dice.randrange(40), dice.randrange(40)
            match dice.randrange(3):
                case 0:
                    now[at], now[other] = now[other], now[at]
                case 1:
                    now[at] = of_pool(replace(now[at][1]))
                case _:
                    now[at] = of_pool(replace(now[at][1], pool=f"n{dice.randrange(20)}"))
        differing = places.differing(now)
        assert differing == [
            at for at, (one, two) in enumerate(zip(now, slices, strict=True)) if one[0] is not two[0] or one[1] is not two[1]
        ]
        places, slices, fresh = places.followed(now, differing), now, Places.of(now)
        assert (places.at, places.of_pool, list(places.slices)) == (fresh.at, fresh.of_pool, now)
        assert places.in_pools(list(fresh.of_pool)[:3]) == {at for own in list(fresh.of_pool.values())[:3] for at in own}
        changed += bool(differing)
    assert changed > 100
