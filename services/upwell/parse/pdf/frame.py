"""From a PDF's own coordinates (points, from the bottom left, before rotation) to those of the page as it is read."""

from upwell.records import Record

BBox = tuple[float, float, float, float]
QUARTER, HALF, THREE_QUARTERS = 90, 180, 270


class Frame(Record, frozen=True, kw_only=True):
    """The part of the page that shows (left, bottom, right, top) and by how many degrees clockwise it is turned."""

    box: BBox
    rotation: int = 0

    @property
    def width(self) -> float:
        left, bottom, right, top = self.box
        return top - bottom if self.rotation in {QUARTER, THREE_QUARTERS} else right - left

    @property
    def height(self) -> float:
        left, bottom, right, top = self.box
        return right - left if self.rotation in {QUARTER, THREE_QUARTERS} else top - bottom

    def turned(self, degrees: int) -> "Frame":
        """The same page turned further."""
        return Frame(box=self.box, rotation=(self.rotation + degrees) % 360)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Where this point is, from the top left."""
        left, bottom, right, top = self.box
        if self.rotation == QUARTER:
            return y - bottom, x - left
        if self.rotation == HALF:
            return right - x, y - bottom
        if self.rotation == THREE_QUARTERS:
            return top - y, right - x
        return x - left, top - y

    def direction(self, dx: float, dy: float) -> tuple[float, float]:
        """Which way this vector goes, y downwards."""
        if self.rotation == QUARTER:
            return dy, dx
        if self.rotation == HALF:
            return -dx, dy
        if self.rotation == THREE_QUARTERS:
            return -dy, -dx
        return dx, -dy

    def way(self) -> tuple[float, float, float, float, float, float, float, float]:
        """`point` as numbers for many: x = a x + b y + c, y = d x + e y + f; then the width and the height."""
        ox, oy = self.point(0.0, 0.0)
        (ax, ay), (bx, by) = self.point(1.0, 0.0), self.point(0.0, 1.0)
        return (ax - ox, bx - ox, ox, ay - oy, by - oy, oy, self.width, self.height)

    def bbox(self, left: float, bottom: float, right: float, top: float) -> BBox:
        """A box given by two corners of the PDF's."""
        (ax, ay), (bx, by) = self.point(left, bottom), self.point(right, top)
        return (round(min(ax, bx), 2), round(min(ay, by), 2), round(max(ax, bx), 2), round(max(ay, by), 2))


def turned_back(box: BBox, degrees: int, width: float, height: float) -> BBox:
    """A box of a page that was turned by `degrees` (0, 90, 180, 270), on the page of this size before it was."""
    x0, y0, x1, y1 = box
    if degrees == QUARTER:
        return (round(y0, 2), round(height - x1, 2), round(y1, 2), round(height - x0, 2))
    if degrees == HALF:
        return (round(width - x1, 2), round(height - y1, 2), round(width - x0, 2), round(height - y0, 2))
    if degrees == THREE_QUARTERS:
        return (round(width - y1, 2), round(x0, 2), round(width - y0, 2), round(x1, 2))
    return box
