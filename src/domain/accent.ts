/** The rules for the accent colour of a merchant: the colour of buttons and of the chosen option on pages for payers. */

/** The backgrounds that buttons have on these pages, by theme: the values of `web/src/shared/styles/tokens.css`. */
export const GROUNDS = {
  light: { paper: '#f4f3ef', card: '#ffffff', wash: '#f7f6f3' },
  dark: { paper: '#0d0f13', card: '#16191f', wash: '#1b1f26' },
} as const;

const [WHITE, BLACK] = ['#ffffff', '#000000'] as const;
/** The least contrast that WCAG 2.2 AA demands: criterion 1.4.11 for a button on its page, 1.4.3 for the text on the button. */
const LEAST_ON_PAGE = 3;
const LEAST_OF_TEXT = 4.5;

const COLOUR = /^#[0-9a-f]{6}$/;

/** Reads a colour of the form `#rrggbb`. Null if the text is no such colour. */
export function parseColour(text: string): string | null {
  const colour = text.toLowerCase();
  return COLOUR.test(colour) ? colour : null;
}

/** The contrast of two colours by WCAG 2, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const luminances = [luminance(one), luminance(other)];
  return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05);
}

export interface AccentProblem {
  readonly theme: keyof typeof GROUNDS;
  readonly ground: string;
  /** The contrast, rounded down to two decimals, so that 2.999 is not shown as a sufficient 3. */
  readonly ratio: number;
  readonly needed: number;
  readonly nearest: string;
}

/** The background on which buttons of this colour have too little contrast. Undefined if buttons are visible in both themes. */
export function accentProblem(accent: string): AccentProblem | undefined {
  const { theme, ground, ratio } = weakest(accent);
  if (ratio >= LEAST_ON_PAGE) return undefined;
  const shown = Math.floor(ratio * 100) / 100;
  return { theme, ground, ratio: shown, needed: LEAST_ON_PAGE, nearest: nearestTo(accent) };
}

/** The stylesheet that sets an accent colour. It is outside of all cascade layers, so it overrides the tokens of both themes. */
export function accentSheet(accent: string): string {
  const { main, hover, text } = accentColours(accent);
  return `:root{--main:${main};--main-hover:${hover};--on-main:${text}}\n`;
}

export interface AccentColours {
  readonly main: string;
  readonly hover: string;
  /** The colour of the text on `main` and on `hover`. */
  readonly text: string;
}

/**
 * The colours of a button with this accent. Its text is black or white: the one with more contrast. That contrast is at least
 * 4.58:1 on every colour, so no accent is refused for its text.
 */
export function accentColours(main: string): AccentColours {
  const text = contrast(main, WHITE) >= contrast(main, BLACK) ? WHITE : BLACK;
  const isGood = (hover: string) => weakest(hover).ratio >= LEAST_ON_PAGE && contrast(hover, text) >= LEAST_OF_TEXT;
  const hovers = [12, 8, 4].flatMap((percent) => [mix(main, BLACK, percent), mix(main, WHITE, percent)]);
  return { main, hover: hovers.find(isGood) ?? main, text };
}

/** The background with the least contrast to the colour. */
function weakest(colour: string) {
  const all = Object.entries(GROUNDS).flatMap(([theme, grounds]) =>
    Object.values(grounds).map((ground) => ({
      theme: theme as keyof typeof GROUNDS,
      ground,
      ratio: contrast(colour, ground),
    })),
  );
  return all.reduce((worst, each) => (each.ratio < worst.ratio ? each : worst));
}

/**
 * The first mix of the accent with black or white that is visible in both themes. It always exists, because greys of medium
 * brightness are visible in both.
 */
function nearestTo(accent: string): string {
  for (let percent = 1; percent <= 100; percent += 1) {
    const found = [BLACK, WHITE]
      .map((end) => mix(accent, end, percent))
      .find((colour) => weakest(colour).ratio >= LEAST_ON_PAGE);
    if (found !== undefined) return found;
  }
  throw new Error(`No colour like ${accent} is visible in both themes.`);
}

function mix(colour: string, end: string, percent: number): string {
  const parts = channels(colour).map((value, index) => {
    const mixed = Math.round(value + ((channels(end)[index] ?? 0) - value) * (percent / 100));
    return mixed.toString(16).padStart(2, '0');
  });
  return `#${parts.join('')}`;
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Red, green and blue, each from 0 to 255. */
function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
