import { encodePng } from './encode-png.ts';

type Point = readonly [x: number, y: number];
type Colour = readonly [red: number, green: number, blue: number];

const GROUND: Colour = [0x0b, 0x6e, 0x6e];
const LINK: Colour = [0x9f, 0xe3, 0xd6];
const DEPOT: Colour = [0xff, 0xff, 0xff];

/** The three depots of the sign, in a square of side 1. */
const DEPOTS: readonly [Point, Point, Point] = [
  [0.203, 0.5],
  [0.5, 0.5],
  [0.797, 0.5],
];
const DEPOT_RADIUS = 0.1;
const LINK_RADIUS = 0.039;
const CORNER = 0.25;

/** Draws the add-on's sign, the chain of three depots of a master's pages, as PNG. */
export function drawIcon(size: number): Buffer {
  const pixels = new Uint8Array(size * size * 4);
  for (let index = 0; index < size * size; index += 1) {
    const point: Point = [((index % size) + 0.5) / size, (Math.floor(index / size) + 0.5) / size];
    const link = mix(GROUND, LINK, coverage(distanceToLinks(point), size));
    const colour = mix(link, DEPOT, coverage(distanceToDepots(point), size));
    pixels.set(
      [...colour.map(Math.round), Math.round(255 * coverage(distanceToGround(point), size))],
      index * 4,
    );
  }
  return encodePng(size, pixels);
}

function mix([red, green, blue]: Colour, [toRed, toGreen, toBlue]: Colour, share: number): Colour {
  return [red + (toRed - red) * share, green + (toGreen - green) * share, blue + (toBlue - blue) * share];
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

function distanceToDepots(point: Point): number {
  return Math.min(...DEPOTS.map(([x, y]) => Math.hypot(point[0] - x, point[1] - y) - DEPOT_RADIUS));
}

function distanceToLinks(point: Point): number {
  const [a, b, c] = DEPOTS;
  return Math.min(distanceToLink(point, a, b), distanceToLink(point, b, c));
}

function distanceToLink([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const along = Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
  return Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay)) - LINK_RADIUS;
}
