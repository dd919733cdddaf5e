/** A stream of random choices that follows from a seed alone. */
export interface Seeded {
  /** An integer from 0 up to, and without, the bound. */
  below(bound: number): number;
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  bytes(count: number): Uint8Array;
  /** Another stream. The same name gives the same stream, however much of this one was drawn. */
  fork(name: string): Seeded;
}

/** The generator sfc32: small, fast, and the same on every machine. */
export function seeded(seed: number, name = ''): Seeded {
  let [a, b, c, counter] = [hash(`${seed} a ${name}`), hash(`${seed} b ${name}`), hash(`${seed} c ${name}`), 1];

  function next(): number {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  }
  for (let warmUp = 0; warmUp < 12; warmUp += 1) next();

  const below = (bound: number) => Math.floor((next() / 2 ** 32) * bound);
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => next() / 2 ** 32 < probability,
    pick: (from) => {
      if (from.length === 0) throw new RangeError('There is nothing to pick from.');
      return from[below(from.length)] as (typeof from)[number];
    },
    bytes: (count) => Uint8Array.from({ length: count }, () => next() & 0xff),
    fork: (child) => seeded(seed, `${name}/${child}`),
  };
}

/** FNV-1a. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
