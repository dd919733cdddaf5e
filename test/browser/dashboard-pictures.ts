import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { accessProblems } from '../../web/scripts/access-problems.ts';
import { savePicture } from '../../web/scripts/save-picture.ts';
import { payWith } from '../e2e/sandbox-payer.ts';
import { globalSetup, globalTeardown } from '../global-setup.ts';
import { until } from '../until.ts';
import { withAuthenticator } from './authenticator.ts';
import { operatorLink } from './operator-link.ts';
import { pngLogo } from './png.ts';
import { openScene, type Scene } from './scene.ts';

const USAGE = `npm run pictures:dashboard [-- folder [name]]

Takes pictures of every page of the dashboard, on a sandbox with some payments: in both themes, on a phone and on a desk. Each
page is also held against the rules of axe; one that breaks a rule fails the run. Needs a build of the pages (npm run build).

folder   where they go, docs/pictures/dashboard unless told
name     only those whose name begins with this
`;

if (process.argv.includes('--help')) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const FOLDER = resolve(process.argv[2] ?? join(import.meta.dirname, '../../docs/pictures/dashboard'));
const ONLY = process.argv[3];
const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
] as const;
const THEMES = ['light', 'dark'] as const;
/** The prices of each day's orders, in cents. The last day is today. */
const DAYS: readonly (readonly string[])[] = [
  ['1299', '4900'],
  ['350', '2450', '6425'],
  ['799', '18900'],
  ['1150', '3300', '5200'],
  ['2875', '990'],
  ['4100', '1299', '7600'],
  ['1850', '5900', '2499', '349'],
];
const DAY_MS = 86_400_000;

const PEOPLE_AND_KEYS = {
  '/v1/people': [
    { name: 'Ada Owner', email: 'ada@shop.example', role: 'owner' },
    {
      name: 'Sam Support',
      email: 'sam@shop.example',
      role: 'support',
      refundLimits: [{ unit: 'iso4217/USD', value: '10000' }],
    },
    { name: 'Bea Books', email: 'bea@shop.example', role: 'bookkeeper' },
    { name: 'Casey Counter', email: 'casey@shop.example', role: 'cashier' },
  ],
  '/v1/api-keys': [
    { label: 'Shop backend', scopes: ['payments:read', 'payments:write'], addresses: ['203.0.113.0/28'] },
    { label: 'Reports', scopes: ['payments:read', 'events:read'], expiresAt: '2027-06-30T00:00:00Z' },
    { label: 'Refund desk', scopes: ['payments:read', 'refunds:write'] },
  ],
} as const;

/** Objects that some of the pages are about. */
interface Shown {
  readonly paymentId: string;
  readonly endpointId: string;
}

interface Shot {
  readonly name: string;
  readonly path: string;
  /** Something that is there as soon as the page has its data. */
  readonly ready?: string;
  /** The element at the top of the picture. */
  readonly top?: string;
}

const LOADED = `![...document.querySelectorAll('.empty')].some(({ textContent }) => textContent === 'Loading')
  && [...document.images].every(({ complete }) => complete)`;

const problems: string[] = [];
let count = 0;
await globalSetup();
const scene = await openScene();
try {
  await mkdir(FOLDER, { recursive: true });
  for (const name of ONLY === undefined ? await readdir(FOLDER) : []) {
    if (name.endsWith('.webp')) await rm(join(FOLDER, name));
  }
  const shown = await furnish(scene);
  await takeAll(scene.dashboardUrl, pagesOf(shown), PEOPLE_AND_KEYS);
  await takeAll(await operatorLink(scene), [{ name: 'gateway', path: '/operator', ready: '.cards .card' }]);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${count} pictures, ${problems.length} problems\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await scene.close();
  await globalTeardown();
}

function pagesOf({ paymentId, endpointId }: Shown): readonly Shot[] {
  return [
    { name: 'home', path: '', ready: '.card' },
    { name: 'payments', path: '/payments' },
    { name: 'payment', path: `/payments/${scene.merchantId}/${paymentId}`, ready: '.entry' },
    { name: 'refunds', path: '/refunds' },
    { name: 'payouts', path: '/payouts' },
    { name: 'merchants', path: '/merchants' },
    { name: 'merchant', path: `/merchants/${scene.merchantId}` },
    { name: 'branding', path: `/merchants/${scene.merchantId}`, ready: '.brand-page', top: '#branding' },
    { name: 'keys', path: '/developers' },
    { name: 'webhooks', path: '/webhooks' },
    { name: 'webhook', path: `/webhooks/${endpointId}` },
    { name: 'events', path: '/developers/events' },
    { name: 'requests', path: '/developers/requests' },
    { name: 'team', path: '/team' },
    { name: 'audit-log', path: '/team/audit-log' },
    { name: 'account', path: '/account' },
  ];
}

/** Payments in several states, a refund, a held amount, other merchants and people: what a shop has after a morning. */
async function furnish({ call, createPayment, createWallet, createMerchant, assetOf }: Scene): Promise<Shown> {
  const wallet = await createWallet({ USDC: 10n ** 9n, EURC: 10n ** 9n });
  const paid: string[] = [];
  for (const [day, prices] of DAYS.entries()) {
    if (day > 0) await call('POST', '/v1/test/clock', { advanceMs: DAY_MS });
    for (const [index, value] of prices.entries()) {
      const unit = index % 3 === 1 ? 'iso4217/EUR' : 'iso4217/USD';
      const referenceId = `ORDER-${1042 + 10 * day + index}`;
      const { paymentId } = await createPayment(unit, value, { referenceId, description: 'Coffee beans' });
      // The last order of a day stays open.
      if (index > 0 && index === prices.length - 1) continue;
      await payWith(scene, wallet, paymentId, unit === 'iso4217/EUR' ? 'EURC' : 'USDC');
      paid.push(paymentId);
    }
  }
  await call('PATCH', `/v1/merchants/${scene.merchantId}/branding`, {
    accentColor: '#635bff',
    logo: pngLogo([99, 91, 255]).toString('base64'),
    poweredBy: false,
  });
  const [first = ''] = paid;
  const shown = paid.at(-1) ?? '';
  await call('POST', '/v1/refunds', { paymentId: first });
  await call('POST', '/v1/refunds', { paymentId: shown, amount: { unit: 'iso4217/USD', value: '500' } });
  const bakery = await createMerchant(assetOf('USDC'), wallet.account);
  await call('PATCH', `/v1/merchants/${bakery.id}`, { merchantName: 'Corner Bakery' });
  await call('PUT', `/v1/merchants/${bakery.id}/status`, { status: 'inactive' });
  const { merchant: kiosk } = await call<{ merchant: { id: string } }>('POST', '/v1/merchants', {
    merchantName: 'Station Kiosk',
    merchantEmail: 'kiosk@shop.example',
  });
  const held = await createPayment('iso4217/USD', '2100', { referenceId: 'KIOSK-7' }, kiosk.id);
  await payWith(scene, wallet, held.paymentId, 'USDC');
  const { webhookEndpoints } = await call<{ webhookEndpoints: { id: string }[] }>('GET', '/v1/webhook-endpoints');
  for (const path of ['/v1/payments/pay_unknown', '/v1/merchants/mrch_unknown']) {
    await fetch(scene.baseUrl + path, { headers: { 'api-key': scene.apiKey, 'merchant-id': scene.merchantId } });
  }
  return { paymentId: shown, endpointId: webhookEndpoints[0]?.id ?? '' };
}

/** Objects that only people can make, by the path that makes them. */
type Made = Readonly<Record<string, readonly object[]>>;

/** A request of the page, which has the session. */
function postText(path: string, body: object): string {
  const headers = { 'Session-Mode': 'test', 'Content-Type': 'application/json' };
  const request = JSON.stringify({ method: 'POST', headers, body: JSON.stringify(body) });
  return `fetch(${JSON.stringify(path)}, ${request}).then((answer) => answer.status)`;
}

/** Signs in once, and takes all pictures with that session. */
async function takeAll(link: string, shots: readonly Shot[], made: Made = {}): Promise<void> {
  const { context, page } = await scene.visit();
  await withAuthenticator(context, page);
  await page.goto(link);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: /^(?!Welcome)/ }).waitFor();
  for (const [path, bodies] of Object.entries(made)) {
    for (const body of bodies) await page.evaluate(postText(path, body));
  }
  const storageState = await context.storageState();
  for (const theme of THEMES) {
    for (const size of SIZES) await take({ storageState, colorScheme: theme, viewport: size }, shots);
  }
  await context.close();
}

async function take(options: BrowserContextOptions, shots: readonly Shot[]): Promise<void> {
  const { colorScheme, viewport } = options;
  const { context, page } = await scene.visit(options);
  // The sandbox is some days ahead.
  await context.clock.setSystemTime(Date.now() + (DAYS.length - 1) * DAY_MS);
  const encoder = await context.newPage();
  for (const { name, path, ready = 'h1', top } of shots.filter((shot) => shot.name.startsWith(ONLY ?? ''))) {
    const label = `${name}-${colorScheme}-${viewport?.width}`;
    await page.goto(new URL(`/dashboard${path}`, scene.dashboardUrl).href);
    await page.locator(ready).first().waitFor();
    await settled(page);
    if (top !== undefined) await page.evaluate(`document.querySelector('${top}').closest('section').scrollIntoView()`);
    await savePicture(encoder, join(FOLDER, label), await page.screenshot());
    count += 1;
    problems.push(...(await accessProblems(page)).map((text) => `${label}: ${text}`));
  }
  await context.close();
}

/** The page has its data: nothing loads, and every image is there. */
function settled(page: Page): Promise<void> {
  return until('the page is loaded', async () => Boolean(await page.evaluate(LOADED)));
}
