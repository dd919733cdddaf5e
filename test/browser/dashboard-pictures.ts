import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { accessProblems } from '../../web/scripts/access-problems.ts';
import { savePicture } from '../../web/scripts/save-picture.ts';
import { ALL_PICTURES, keepShown } from '../../web/scripts/shown-pictures.ts';
import { payWith } from '../e2e/sandbox-payer.ts';
import { globalSetup, globalTeardown } from '../global-setup.ts';
import { until } from '../until.ts';
import type { TestWallet } from '../wallet-sdk/test-wallet.ts';
import { withAuthenticator } from './authenticator.ts';
import { linkOf, operatorLink } from './operator-link.ts';
import { pngLogo } from './png.ts';
import { openScene, type Scene } from './scene.ts';
import { createLinks, type Save, signDeviceIn, takeSale } from './shop-pictures.ts';

const USAGE = `npm run pictures:dashboard [-- folder [name]]

Takes pictures of every page of the dashboard, of a payment link and of the point of sale, on a sandbox with some payments: in both
themes, on a phone and on a desk. Pictures that a page of the documentation shows are copied to docs/pictures. axe checks each page; a
broken rule fails the run. Needs a build of the pages (npm run build).

folder   the folder of all pictures, with the folders dashboard and shop in it; .pictures by default, which Git ignores
name     takes only the pictures whose name begins with this
`;

if (process.argv.includes('--help')) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const FOLDER = resolve(process.argv[2] ?? ALL_PICTURES);
const ROOMS = ['dashboard', 'shop'] as const;
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

const CASHIER = { name: 'Casey Counter', email: 'casey@shop.example', role: 'cashier' };
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
  readonly wallet: TestWallet;
  readonly links: Awaited<ReturnType<typeof createLinks>>;
}

interface Shot {
  readonly name: string;
  /** Of the dashboard, or a whole address. */
  readonly path: string;
  /** Something that is there as soon as the page has its data. */
  readonly ready?: string;
  /** The element at the top of the picture. */
  readonly top?: string;
  /** Elements that are unfolded. The first of them is at the top of the picture. */
  readonly opens?: string;
}

const LOADED = `![...document.querySelectorAll('.empty')].some(({ textContent }) => textContent === 'Loading')
  && [...document.images].every(({ complete }) => complete)`;

const problems: string[] = [];
let count = 0;
await globalSetup();
const scene = await openScene();
try {
  for (const room of ROOMS) {
    await mkdir(join(FOLDER, room), { recursive: true });
    for (const name of ONLY === undefined ? await readdir(join(FOLDER, room)) : []) {
      if (name.endsWith('.webp')) await rm(join(FOLDER, room, name));
    }
  }
  const shown = await furnish(scene);
  const cashier = await takeAll(await linkOf(scene, 'Demo owner'), pagesOf(shown), {
    ...PEOPLE_AND_KEYS,
    '/v1/people': [...PEOPLE_AND_KEYS['/v1/people'], { ...CASHIER, merchantId: scene.merchantId }],
  });
  await takeShop(cashier, shown);
  await takeAll(await operatorLink(scene), [
    { name: 'gateway', path: '/operator', ready: '.cards .card' },
    { name: 'examination', path: '/operator/examination', ready: '.examined' },
    { name: 'examination-facts', path: '/operator/examination', ready: '.examined', opens: '.examined details' },
  ]);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  const kept = await keepShown(FOLDER);
  process.stdout.write(`${count} pictures, ${kept} of them in docs/pictures, ${problems.length} problems\n`);
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
    { name: 'late-money', path: '/late-money' },
    { name: 'payouts', path: '/payouts' },
    { name: 'links', path: '/links' },
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
  const double = { referenceId: 'ORDER-1120', metadata: { sandbox: 'double' } };
  await payWith(scene, wallet, (await createPayment('iso4217/USD', '1850', double)).paymentId, 'USDC');
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
  return { paymentId: shown, endpointId: webhookEndpoints[0]?.id ?? '', wallet, links: await createLinks(scene) };
}

/** Objects that only people can make, by the path that makes them. */
type Made = Readonly<Record<string, readonly object[]>>;

/** A request of the page, which has the session. */
function postText(path: string, body: object): string {
  const headers = { 'Session-Mode': 'test', 'Content-Type': 'application/json' };
  const request = JSON.stringify({ method: 'POST', headers, body: JSON.stringify(body) });
  return `fetch(${JSON.stringify(path)}, ${request}).then((answer) => answer.json())`;
}

/** Signs in once, and takes all pictures with that session. Returns the link that signs in the last person it has made. */
async function takeAll(link: string, shots: readonly Shot[], made: Made = {}): Promise<string> {
  const { context, page } = await scene.visit();
  await withAuthenticator(context, page);
  await page.goto(link);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('heading', { level: 1, name: /^(?!Welcome)/ }).waitFor();
  let invitation = '';
  for (const [path, bodies] of Object.entries(made)) {
    for (const body of bodies) {
      const answer = (await page.evaluate(postText(path, body))) as { readonly link?: { readonly url: string } };
      invitation = answer.link?.url ?? invitation;
    }
  }
  const storageState = await context.storageState();
  for (const theme of THEMES) {
    for (const size of SIZES) {
      await visitAs({ storageState, colorScheme: theme, viewport: size }, (page, save) => take(page, save, shots));
    }
  }
  await context.close();
  return invitation;
}

/** The pages of two payment links, and a sale at the counter. */
async function takeShop(cashier: string, { wallet, links: { fixed, open } }: Shown): Promise<void> {
  const storageState = await signDeviceIn(scene, cashier);
  for (const theme of THEMES) {
    for (const size of SIZES) {
      await visitAs({ storageState, colorScheme: theme, viewport: size }, async (page, save) => {
        const shots = [
          { name: 'link', path: fixed },
          { name: 'link-open', path: open },
        ];
        await take(page, (of, name) => save(of, name, 'shop'), shots);
        if ('pos'.startsWith(ONLY ?? '')) {
          await takeSale(scene, wallet, page, (of, name) => save(of, `pos-${name}`, 'shop'));
        }
      });
    }
  }
}

/** Opens a browser whose clock is that of the sandbox, which is some days ahead. */
async function visitAs(
  options: BrowserContextOptions,
  work: (page: Page, save: (page: Page, name: string, room?: (typeof ROOMS)[number]) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { context, page } = await scene.visit(options);
  await context.clock.setSystemTime(Date.now() + (DAYS.length - 1) * DAY_MS);
  const encoder = await context.newPage();
  await work(page, async (shown, name, room = 'dashboard') => {
    const label = `${name}-${options.colorScheme}-${options.viewport?.width}`;
    await settled(shown);
    await savePicture(encoder, join(FOLDER, room, label), await shown.screenshot());
    count += 1;
    problems.push(...(await accessProblems(shown)).map((text) => `${label}: ${text}`));
  });
  await context.close();
}

async function take(page: Page, save: Save, shots: readonly Shot[]): Promise<void> {
  for (const { name, path, ready = 'h1', top, opens } of shots.filter((shot) => shot.name.startsWith(ONLY ?? ''))) {
    await page.goto(path.includes('://') ? path : new URL(`/dashboard${path}`, scene.dashboardUrl).href);
    await page.locator(ready).first().waitFor();
    await settled(page);
    if (top !== undefined) await page.evaluate(`document.querySelector('${top}').closest('section').scrollIntoView()`);
    if (opens !== undefined) {
      await page.evaluate(`for (const each of document.querySelectorAll('${opens}')) each.open = true;
        document.querySelector('${opens}').scrollIntoView()`);
    }
    await save(page, name);
  }
}

/** The page has its data: nothing loads, and every image is there. */
function settled(page: Page): Promise<void> {
  return until('the page is loaded', async () => Boolean(await page.evaluate(LOADED)));
}
