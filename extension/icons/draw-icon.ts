import { encodePng } from './encode-png.ts';

type Point = readonly [x: number, y: number];
type Colour = readonly [red: number, green: number, blue: number];

const GROUND: Colour = [0x1d, 0x4e, 0xd8];
const CHAIN: Colour = [0xff, 0xff, 0xff];

/** The three depots of the sign, in a square of side 1. */
const DEPOTS: readonly [Point, Point, Point] = [
  [0.23, 0.68],
  [0.5, 0.36],
  [0.77, 0.58],
];
const DEPOT_RADIUS = 0.12;
const LINK_RADIUS = 0.042;
const CORNER = 0.24;

/** Draws the add-on's sign, a chain of three depots, as PNG. */
export function drawIcon(size: number): Buffer {
  const pixels = new Uint8Array(size * size * 4);
  for (let index = 0; index < size * size; index += 1) {
    const point: Point = [((index % size) + 0.5) / size, (Math.floor(index / size) + 0.5) / size];
    const chain = coverage(distanceToChain(point), size);
    const colour = GROUND.map((ground, part) => ground + ((CHAIN[part] ?? 0) - ground) * chain);
    pixels.set(
      [...colour.map(Math.round), Math.round(255 * coverage(distanceToGround(point), size))],
      index * 4,
    );
  }
  return encodePng(size, pixels);
}

/** How much of a pixel lies inside of an edge that is this far away; soft over one pixel. */
function coverage(distance: number, size: number): number {
  return Math.min(1, Math.max(0, 0.5 - distance * size));
}

function distanceToGround([x, y]: Point): number {
  const dx = Math.abs(x - 0.5) - (0.5 - CORNER);
  const dy = Math.abs(y - 0.5) - (0.5 - CORNER);
  return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - CORNER;
}

function distanceToChain(point: Point): number {
  const [a, b, c] = DEPOTS;
  const depots = DEPOTS.map(([x, y]) => Math.hypot(point[0] - x, point[1] - y) - DEPOT_RADIUS);
  return Math.min(...depots, distanceToLink(point, a, b), distanceToLink(point, b, c));
}

function distanceToLink([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const along = Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
  return Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay)) - LINK_RADIUS;
}
