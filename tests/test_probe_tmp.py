import asyncio, pytest
from tests.ui.virtual import Stage
from tradetui.ui.tty.screenshot import screen_text
pytestmark = pytest.mark.looptime
@pytest.mark.parametrize("size",[(80,24),(100,30),(120,30),(140,45),(120,33),(120,36),(200,60),(100,24),(80,40)])
@pytest.mark.parametrize("after",[6,30])
async def test_x(size,after):
    stage = Stage()
    async with stage.running(size=size, after=after) as pilot:
        await pilot.press("m"); await asyncio.sleep(.5); await pilot.pause()
        await pilot.press("tab","tab"); await pilot.pause()
        t=stage.app.screen.table
        a=(t._footer.parts(t.size.height-1), t.size)
        await pilot.press("slash", *"ETH"); await asyncio.sleep(.5); await pilot.pause()
        b=(t._footer.parts(t.size.height-1), t.size)
        await pilot.press("enter"); await asyncio.sleep(1.5); await pilot.pause()
        print(size,after,a,b,t._footer.parts(t.size.height-1), t.size, t.shown, t._footer.note, bool(t._footer.totals))
