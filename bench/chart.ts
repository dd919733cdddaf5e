/** Curves over time, one panel below the other, as an SVG picture. */
export interface Chart {
  readonly title: string;
  /** The length of the time axis. */
  readonly seconds: number;
  readonly panels: readonly Panel[];
  /** Moments to mark in all panels. Those with the same label have the same colour. */
  readonly marks: readonly { readonly atS: number; readonly label: string }[];
}

export interface Panel {
  readonly title: string;
  readonly curves: readonly Curve[];
}

export interface Curve {
  readonly name: string;
  /** A point without a value interrupts the curve. */
  readonly points: readonly { readonly atS: number; readonly value: number | undefined }[];
}

const WIDTH = 960;
const PANEL_HEIGHT = 130;
const GAP = 46;
const LEFT = 64;
const RIGHT = 24;
const TOP = 72;
/** Of the labels of marks: a letter, and the room for the sample of the colour. */
const LETTER_WIDTH = 5.7;
const LABEL_GAP = 30;
const CURVE_COLOURS = ['#1f5fbf', '#c2571a', '#2a7d4f'];
const MARK_COLOURS = ['#b3261e', '#7b4bb3', '#0f7b8a', '#8a6d00', '#5f6b7a'];

export function drawChart({ title, seconds, panels, marks }: Chart): string {
  const height = TOP + panels.length * (PANEL_HEIGHT + GAP) + 12;
  const x = (atS: number) => LEFT + (atS / seconds) * (WIDTH - LEFT - RIGHT);
  const labels = [...new Set(marks.map(({ label }) => label))];
  const colourOf = (label: string) => MARK_COLOURS[labels.indexOf(label) % MARK_COLOURS.length] ?? '#000';
  const parts = [
    text(LEFT, 26, title, { size: 17, weight: 600 }),
    ...labels.map((label, index) => {
      const before = labels.slice(0, index).join('').length;
      const left = LEFT + index * LABEL_GAP + before * LETTER_WIDTH;
      return `${line(left, 48, left + 16, 48, colourOf(label), 2)}${text(left + 20, 52, label, { size: 11 })}`;
    }),
    ...panels.map((panel, index) => drawPanel(panel, TOP + 18 + index * (PANEL_HEIGHT + GAP))),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" role="img"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>\n`;

  function drawPanel(panel: Panel, top: number): string {
    const bottom = top + PANEL_HEIGHT;
    const values = panel.curves.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
    const most = roundUp(Math.max(1, ...values));
    const y = (value: number) => bottom - (value / most) * PANEL_HEIGHT;
    const grid = [0, most / 2, most].map(
      (value) =>
        line(LEFT, y(value), WIDTH - RIGHT, y(value), '#e3e6ea', 1) +
        text(LEFT - 8, y(value) + 4, show(value), { size: 11, anchor: 'end' }),
    );
    const ticks = minuteMarks(seconds).map((minute) =>
      text(x(minute * 60), bottom + 16, `${minute} min`, { size: 11, anchor: 'middle' }),
    );
    const faults = marks.map(({ atS, label }) => line(x(atS), top, x(atS), bottom, colourOf(label), 1, 0.45));
    const curves = panel.curves.map(({ points }, index) => {
      const path = points
        .map(({ atS, value }, place) => {
          if (value === undefined) return '';
          const isFirst = points[place - 1]?.value === undefined;
          return `${isFirst ? 'M' : 'L'}${x(atS).toFixed(1)} ${y(value).toFixed(1)}`;
        })
        .join('');
      return `<path d="${path}" fill="none" stroke="${CURVE_COLOURS[index % CURVE_COLOURS.length]}" stroke-width="1.6"/>`;
    });
    const names = panel.curves.map(({ name }, index) => ({
      name,
      colour: CURVE_COLOURS[index % CURVE_COLOURS.length],
    }));
    const legend = names
      .map(({ name, colour }) => `<tspan fill="${colour}">${escaped(name)}</tspan>`)
      .join('<tspan fill="#5f6b7a"> · </tspan>');
    const heading = `${text(LEFT, top - 8, panel.title, { size: 13, weight: 600 })}<text x="${WIDTH - RIGHT}" y="${top - 8}" font-size="12" text-anchor="end">${legend}</text>`;
    return [heading, ...grid, ...ticks, ...faults, ...curves].join('');
  }
}

function line(x1: number, y1: number, x2: number, y2: number, colour: string, width: number, opacity = 1): string {
  const [a, b, c, d] = [x1, y1, x2, y2].map((value) => value.toFixed(1));
  return `<path d="M${a} ${b}L${c} ${d}" stroke="${colour}" stroke-width="${width}" opacity="${opacity}"/>`;
}

function text(
  x: number,
  y: number,
  content: string,
  { size, weight = 400, anchor = 'start' }: { size: number; weight?: number; anchor?: string },
): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="#1c2430">${escaped(content)}</text>`;
}

/** The next number of the form 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((factor) => factor * power >= value) ?? 10) * power;
}

function show(value: number): string {
  return value >= 1_000 ? `${value / 1_000}k` : String(Math.round(value * 10) / 10);
}

/** At most ten marks on the time axis. */
function minuteMarks(seconds: number): number[] {
  const minutes = seconds / 60;
  const step = [0.5, 1, 2, 5, 10, 20, 60].find((each) => minutes / each <= 10) ?? 120;
  return Array.from({ length: Math.floor(minutes / step) + 1 }, (_, index) => index * step);
}

function escaped(content: string): string {
  return content.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
