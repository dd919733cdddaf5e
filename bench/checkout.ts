import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchBrowser } from '../test/browser/chromium.ts';
import { call } from './calls.ts';
import { type Figure, type Measurement, median, round } from './figures.ts';
import { addMerchants, type Gateway, merchantId, startGateway } from './gateway.ts';

/** The load time of the page on a mid-range phone with a mid-range connection, on the first visit. */
export const checkoutMeasurement: Measurement = { names: ['checkout'], measure };

const VISITS = 5;
/** Lighthouse's settings for phones: 150 ms, 1.6 Mbit/s down, 750 kbit/s up, a processor four times slower. */
const LINE = { offline: false, latency: 150, downloadThroughput: 1_638_400 / 8, uploadThroughput: 768_000 / 8 };
const SLOWDOWN = 4;
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
/** By then the page has settled. */
const SETTLED_AFTER_MS = 2_500;
/** A task longer than this is a noticeable delay. */
const BLOCKING_FROM_MS = 50;

interface Visit {
  readonly firstPaintMs: number;
  readonly blockingMs: number;
  readonly layoutShift: number;
  readonly scriptBytes: number;
  readonly styleBytes: number;
  readonly documents: number;
}

async function measure(): Promise<Figure[]> {
  const gateway = await startGateway();
  const browser = await launchBrowser();
  try {
    await addMerchants(gateway, 1);
    // On the first visit the gateway compresses its files, once.
    await visitCheckout(gateway, browser);
    const visits: Visit[] = [];
    for (let count = 0; count < VISITS; count += 1) visits.push(await visitCheckout(gateway, browser));
    return figuresOf(visits);
  } finally {
    await browser.close();
    await gateway.stop();
  }
}

function figuresOf(visits: readonly Visit[]): Figure[] {
  const each = (name: keyof Visit, digits = 0) => visits.map((visit) => round(visit[name], digits));
  const middle = (name: keyof Visit, digits = 0) => round(median(each(name, digits)), digits);
  const conditions = { conditions: '390 px, processor 4 times slower, 150 ms, 1.6 Mbit/s, nothing cached' };
  return [
    {
      name: 'checkout_first_contentful_paint',
      value: middle('firstPaintMs'),
      target: { atMost: 1_500 },
      unit: 'ms',
      detail: { ...conditions, 'by visit': each('firstPaintMs'), 'documents asked for': middle('documents') },
    },
    {
      name: 'checkout_total_blocking_time',
      value: middle('blockingMs'),
      target: { atMost: 200 },
      unit: 'ms',
      detail: { 'by visit': each('blockingMs') },
    },
    {
      name: 'checkout_layout_shift',
      value: middle('layoutShift', 4),
      target: { atMost: 0.02 },
      unit: 'score',
      detail: { 'by visit': each('layoutShift', 4) },
    },
    {
      name: 'checkout_weight',
      value: round((middle('scriptBytes') + middle('styleBytes')) / 1_000, 1),
      target: { atMost: 105 },
      unit: 'KB',
      detail: { 'script, bytes': middle('scriptBytes'), 'style, bytes': middle('styleBytes') },
    },
  ];
}

/** One payer with an empty cache. */
async function visitCheckout(gateway: Gateway, browser: Browser): Promise<Visit> {
  const url = await newCheckout(gateway);
  const context = await browser.newContext(PHONE);
  try {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    const bytes = await weighAnswers(devtools);
    await devtools.send('Network.emulateNetworkConditions', LINE);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    await page.addInitScript(OBSERVE);
    await page.goto(url);
    await page.waitForTimeout(SETTLED_AFTER_MS);
    return { ...(await observed(page)), ...bytes() };
  } finally {
    await context.close();
  }
}

async function newCheckout({ port, apiKey }: Gateway): Promise<string> {
  const headers = { 'Api-Key': apiKey, 'Merchant-Id': merchantId(1), 'Content-Type': 'application/json' };
  const body = JSON.stringify({ amount: { unit: 'iso4217/USD', value: '1999' }, referenceId: 'BENCH' });
  const { text } = await call({ port, method: 'POST', path: '/v1/payments', headers, body });
  return (JSON.parse(text) as { gatewayUrl: string }).gatewayUrl;
}

/** Adds up the transferred bytes, compressed as received. */
async function weighAnswers(devtools: CDPSession) {
  const types = new Map<string, string>();
  const sums: Record<string, number> = {};
  devtools.on('Network.responseReceived', ({ requestId, type }) => types.set(requestId, type));
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const type = types.get(requestId) ?? '';
    sums[type] = (sums[type] ?? 0) + encodedDataLength;
  });
  await devtools.send('Network.enable');
  return () => ({
    scriptBytes: sums.Script ?? 0,
    styleBytes: sums.Stylesheet ?? 0,
    documents: [...types.values()].filter((type) => type === 'Document').length,
  });
}

/** Runs in the page: records the metrics that a payer would notice. */
const OBSERVE = `
  globalThis.seen = { paints: [], tasks: [], shifts: [] };
  const watch = (type, list) => new PerformanceObserver((entries) => list.push(...entries.getEntries())).observe({ type, buffered: true });
  watch('paint', seen.paints);
  watch('longtask', seen.tasks);
  watch('layout-shift', seen.shifts);
`;

async function observed(page: Page): Promise<Pick<Visit, 'firstPaintMs' | 'blockingMs' | 'layoutShift'>> {
  const { paintMs, tasks, shifts } = (await page.evaluate(`({
    paintMs: seen.paints.find(({ name }) => name === 'first-contentful-paint').startTime,
    tasks: seen.tasks.map(({ startTime, duration }) => ({ startTime, duration })),
    shifts: seen.shifts.filter(({ hadRecentInput }) => !hadRecentInput).map(({ value }) => value),
  })`)) as { paintMs: number; tasks: { startTime: number; duration: number }[]; shifts: number[] };
  const blocking = tasks
    .filter(({ startTime, duration }) => startTime + duration > paintMs)
    .reduce((sum, { duration }) => sum + Math.max(0, duration - BLOCKING_FROM_MS), 0);
  return { firstPaintMs: paintMs, blockingMs: blocking, layoutShift: shifts.reduce((sum, value) => sum + value, 0) };
}
