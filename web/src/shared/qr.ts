import { encode } from 'uqr';

/** A QR code as one SVG path of all dark modules, `size` modules wide. */
export interface QrShape {
  readonly size: number;
  readonly path: string;
}

/** The QR code of a text. The payment page loads this module on demand, because most payers have their wallet in the browser. */
export function qrShape(text: string): QrShape {
  const { size, data } = encode(text, { ecc: 'M', border: 0 });
  const path = data
    .flatMap((line, y) => runsOf(line).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`))
    .join('');
  return { size, path };
}

/** Runs of dark modules, each with its start and length. */
function runsOf(line: readonly boolean[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const [x, isDark] of line.entries()) {
    if (!isDark) continue;
    const last = runs.at(-1);
    if (last !== undefined && last[0] + last[1] === x) last[1] += 1;
    else runs.push([x, 1]);
  }
  return runs;
}
