import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * `node web/scripts/draw-icons.ts`: the marks of tokens and networks, all on one grid, with one stroke. They are drawn
 * for this project to distinguish tokens and networks, and copy no logo.
 */
const FOLDER = join(import.meta.dirname, '../public/icons');

/** Strokes on a grid of 48, with the middle at 24, 24. */
const MARKS = {
  dollar:
    '<path d="M30.5 18.2c-.9-2.6-3.4-4-6.5-4-3.7 0-6.5 1.8-6.5 4.9 0 6.7 13.4 3 13.4 9.9 0 3.2-3 5-6.9 5-3.5 0-6.3-1.6-7.1-4.5M24 10.5v27"/>',
  euro: '<path d="M31.5 16.6A9.8 9.8 0 1 0 31.5 31.4M12.5 21.8h13M12.5 26.6h11"/>',
  tug: '<path d="M15 15.5h18M24 15.5V36M16.5 23.5h15"/>',
  diamond: '<path d="M24 10.5 34 25 24 37.5 14 25zM14 25l10-4.5L34 25"/>',
  squares: '<path d="M24 12.5 35.5 24 24 35.5 12.5 24z"/><path d="M24 20.5 27.5 24 24 27.5 20.5 24z"/>',
  hexagon: '<path d="M24 11.5 34.8 17.8v12.4L24 36.5 13.2 30.2V17.8z"/><path d="M24 24v6"/>',
  p: '<path d="M18.5 35.5v-22h6.3a6.3 6.3 0 0 1 0 12.6h-6.3M14.5 31h11"/>',
  a: '<path d="M15.5 34.5 24 13.5l8.5 21M18.8 27.5h10.4"/>',
  g: '<path d="M32 17.3a10 10 0 1 0 2 8.2h-8.5"/>',
  e: '<path d="M14.8 24.8h18.4A9.3 9.3 0 1 0 30 31.5"/>',
  m: '<path d="M14 33.5v-19L24 27l10-12.5v19"/>',
  c: '<path d="M32.5 17.5a10.2 10.2 0 1 0 0 13"/><path d="M24 24h.1"/>',
  sun: '<circle cx="24" cy="24" r="6"/><path d="M24 10.5v2.5M24 35v2.5M10.5 24H13M35 24h2.5M14.5 14.5l1.7 1.7M31.8 31.8l1.7 1.7M14.5 33.5l1.7-1.7M31.8 16.2l1.7-1.7"/>',
  ring: '<circle cx="24" cy="24" r="9.5"/>',
  orbit: '<circle cx="24" cy="24" r="4"/><ellipse cx="24" cy="24" rx="12.5" ry="6.5" transform="rotate(-35 24 24)"/>',
  floor: '<path d="M12.5 32.5h23M24 13v12.5M18.5 20.5 24 26l5.5-5.5"/>',
  peak: '<path d="M12.5 34 24 13l11.5 21M19.5 34 24 26l4.5 8"/>',
  flask: '<path d="M20.5 11v9.5L12.7 33a2.7 2.7 0 0 0 2.3 4h18a2.7 2.7 0 0 0 2.3-4L27.5 20.5V11M18 11h12M17 28h14"/>',
  till: '<path d="M14 21.5h20v13H14zM18 21.5v-8h12v8M21 28h6"/>',
} as const;

interface Icon {
  readonly mark: keyof typeof MARKS;
  readonly ground: string;
  readonly pen?: string;
  /** A ring around it: the wrapped form of a coin, or the test form of a network. */
  readonly hasRing?: true;
}

const TOKENS: Readonly<Record<string, Icon>> = {
  USDC: { mark: 'dollar', ground: '#2b6fd6' },
  EURC: { mark: 'euro', ground: '#3049b8' },
  USDT: { mark: 'tug', ground: '#1d8f6f' },
  ETH: { mark: 'diamond', ground: '#5b6bd5' },
  WETH: { mark: 'diamond', ground: '#b0457c', hasRing: true },
  BNB: { mark: 'squares', ground: '#c98a04' },
  POL: { mark: 'hexagon', ground: '#7a4ddb' },
  WPOL: { mark: 'hexagon', ground: '#57379f', hasRing: true },
  PYUSD: { mark: 'p', ground: '#1f57a8' },
  AUSD: { mark: 'a', ground: '#0f7373' },
  USDG: { mark: 'g', ground: '#3d4f63' },
  EURe: { mark: 'e', ground: '#c2552d' },
  MON: { mark: 'm', ground: '#6a4fd0' },
  CELO: { mark: 'c', ground: '#2f8f57' },
  SOL: { mark: 'sun', ground: '#7b3fa8' },
};

const SOLANA = { mark: 'sun', ground: '#3a2f5c' } as const;
const ETHEREUM = { mark: 'diamond', ground: '#454a75' } as const;
const OPTIMISM = { mark: 'ring', ground: '#d8333f' } as const;
const POLYGON = { mark: 'hexagon', ground: '#6c3fd1' } as const;
const BASE = { mark: 'floor', ground: '#2257e6' } as const;
const ARBITRUM = { mark: 'peak', ground: '#23405f', pen: '#9fd0ff' } as const;

/** By CAIP-2, with a dash for the colon. */
const NETWORKS: Readonly<Record<string, Icon>> = {
  'eip155-1': ETHEREUM,
  'eip155-10': OPTIMISM,
  'eip155-56': { mark: 'squares', ground: '#2a2a2e', pen: '#f2bd3a' },
  'eip155-137': POLYGON,
  'eip155-143': { mark: 'orbit', ground: '#5d43c9' },
  'eip155-8453': BASE,
  'eip155-42161': ARBITRUM,
  'eip155-42220': { mark: 'c', ground: '#f0e05a', pen: '#22261c' },
  'eip155-31337': { mark: 'flask', ground: '#8a5a00', pen: '#ffe2a6' },
  'eip155-11155111': { ...ETHEREUM, hasRing: true },
  'eip155-11155420': { ...OPTIMISM, hasRing: true },
  'eip155-80002': { ...POLYGON, hasRing: true },
  'eip155-84532': { ...BASE, hasRing: true },
  'eip155-421614': { ...ARBITRUM, hasRing: true },
  'solana-5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': SOLANA,
  'solana-EtWTRABZaYq6iMfeYKouRu166VU2xqa1': { ...SOLANA, hasRing: true },
  'solana-4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': { ...SOLANA, hasRing: true },
};

function draw(name: string, { mark, ground, pen = '#fff', hasRing }: Icon): string {
  const ring = hasRing ? '<circle cx="24" cy="24" r="20.5" stroke-width="1.8" stroke-dasharray="3.2 3.2"/>' : '';
  const strokes = hasRing
    ? `<g transform="translate(24 24) scale(.82) translate(-24 -24)">${MARKS[mark]}</g>`
    : MARKS[mark];
  const group = `<g fill="none" stroke="${pen}" stroke-width="3.2" stroke-linecap="round" stroke-linejoin="round">${strokes}${ring}</g>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48" viewBox="0 0 48 48"><title>${name}</title><circle cx="24" cy="24" r="24" fill="${ground}"/>${group}</svg>\n`;
}

async function drawAll(folder: string, icons: Readonly<Record<string, Icon>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await Promise.all(
    Object.entries(icons).map(([name, icon]) => writeFile(join(folder, `${name}.svg`), draw(name, icon))),
  );
}

await drawAll(join(FOLDER, 'token'), TOKENS);
await drawAll(join(FOLDER, 'network'), NETWORKS);
await drawAll(FOLDER, { till: { mark: 'till', ground: '#16181d' } });
