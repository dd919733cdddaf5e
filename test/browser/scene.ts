import assert from 'node:assert/strict';
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { en } from '../../web/src/checkout/strings/en.ts';
import { onFailure } from '../failure-notes.ts';
import { startMailServer } from '../mail-server.ts';
import { startSandbox } from '../wallet-sdk/sandbox.ts';
import type { TestWallet } from '../wallet-sdk/test-wallet.ts';
import { launchBrowser } from './chromium.ts';
import { type InjectedWalletInput, injectWallet } from './injected-wallet.ts';

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** Ten dollars, and as much in tokens. */
export const TEN_DOLLARS = ['iso4217/USD', '1000'] as const;
export const TEN_TOKENS = 10_000_000n;
/** The URLs to which the demo merchant would return its payers; the tests answer for them. */
export const SHOP = 'https://shop.example';
/** A payment takes a block or two; everything on a busy machine takes longer. */
const WITHIN_MS = 60_000;

/** The real gateway with its chain, and a real browser in front of it. */
export async function openScene(settings: Readonly<Record<string, string>> = {}) {
  const mail = await startMailServer();
  const mailSettings = { SMTP_URL: `smtp://127.0.0.1:${mail.terms.port}`, MAIL_FROM: 'Till <till@gateway.example>' };
  const sandbox = await startSandbox({ ...mailSettings, ...settings });
  let browser: Browser;
  try {
    browser = await launchBrowser();
  } catch (error) {
    await sandbox.stop();
    await mail.stop();
    throw error;
  }
  return {
    ...sandbox,
    /** Mails that the gateway has sent. */
    mails: mail.received,
    /** A visitor with a browser without a wallet. */
    visit: (options: BrowserContextOptions = {}) => openVisit(browser, options),
    /** A visitor whose browser has a wallet with these holdings. */
    async visitWith(holdings: Readonly<Record<string, bigint>>, { wallet: input, ...options }: VisitInput = {}) {
      const wallet = await sandbox.createWallet(holdings);
      const visit = await openVisit(browser, options);
      const injected = await injectWallet(visit.context, wallet, input);
      return { ...visit, wallet, injected };
    },
    statusOf: async (paymentId: string) =>
      (await sandbox.call<{ status: string }>('GET', `/v1/payments/${paymentId}/status`)).status,
    async close() {
      await browser.close();
      await sandbox.stop();
      await mail.stop();
    },
  };
}

let shared: Promise<Scene> | undefined;

/** One gateway and one browser for all suites of a process: both take seconds to start. */
export function sharedScene(): Promise<Scene> {
  shared ??= openScene();
  return shared;
}

export async function closeSharedScene(): Promise<void> {
  const scene = await shared;
  shared = undefined;
  await scene?.close();
}

export type VisitInput = BrowserContextOptions & { readonly wallet?: InjectedWalletInput };
export type Visit = Awaited<ReturnType<typeof openVisit>>;

async function openVisit(browser: Browser, options: BrowserContextOptions) {
  // Animations are off, because moving elements cannot be clicked.
  const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce', ...options });
  const requests = watchRequests(context);
  const strangers: string[] = [];
  // A request that arrives here has left the page; its policy blocks others before.
  await context.route(/^https?:\/\/(?!localhost|127\.0\.0\.1)/, (route) => {
    strangers.push(route.request().url());
    return route.abort();
  });
  const shopVisits: string[] = [];
  await context.route(/^https:\/\/shop\.example[:/]/, (route) => {
    shopVisits.push(route.request().url());
    return route.fulfill({ contentType: 'text/html', body: '<title>The shop</title>' });
  });
  context.setDefaultTimeout(WITHIN_MS);
  const page = await context.newPage();
  const problems = watchProblems(page);
  const unanswered = watchUnanswered(context);
  const forget = onFailure(async () => describePage(page, { problems, unanswered }));
  context.on('close', forget);
  return { context, page, requests, strangers, problems, shopVisits, close: () => context.close() };
}

const SHOWN_CHARACTERS = 600;

async function describePage(page: Page, seen: { problems: readonly string[]; unanswered: ReadonlySet<string> }) {
  const text = await page.locator('body').innerText({ timeout: 5_000 });
  const words = text.replaceAll(/\s+/g, ' ').slice(0, SHOWN_CHARACTERS);
  return `${page.url()} shows "${words}"; problems: ${seen.problems.join(' | ')}; unanswered: ${[...seen.unanswered].join(' ')}`;
}

/** The requests that have no whole answer yet, and those that were answered with an error. */
function watchUnanswered(context: BrowserContext): ReadonlySet<string> {
  const open = new Set<string>();
  const nameOf = (request: Request) => `${request.method()} ${request.url()}`;
  context.on('request', (request) => open.add(nameOf(request)));
  context.on('requestfailed', (request) => open.delete(nameOf(request)));
  context.on('requestfinished', (request) => open.delete(nameOf(request)));
  context.on('response', (response) => {
    if (!response.ok()) open.add(`${response.status()} ${nameOf(response.request())}`);
  });
  return open;
}

/** The requested URLs. */
function watchRequests(context: BrowserContext): string[] {
  const urls: string[] = [];
  context.on('request', (request) => urls.push(request.url()));
  return urls;
}

/** The errors of the page, including violations of its policy. */
function watchProblems(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  return problems;
}

/** The payer's actions on the page, by the texts of the page. */
export const steps = {
  title: (page: Page, name: string | RegExp) => page.getByRole('heading', { name }),
  async isAt(page: Page, title: string | RegExp): Promise<void> {
    await steps.title(page, typeof title === 'string' ? wordsOf(title) : title).waitFor();
  },
  async connect(page: Page, wallet = 'Test Wallet'): Promise<void> {
    await page.getByRole('button', { name: wallet }).click();
    await steps.isAt(page, en.choosingTitle);
  },
  async choose(page: Page, symbol: string): Promise<void> {
    await page.locator('label', { has: page.getByText(symbol, { exact: true }) }).click();
  },
  async pay(page: Page): Promise<void> {
    await page.getByRole('button', { name: wordsOf(en.payButton) }).click();
  },
  isPaid: (page: Page) => steps.isAt(page, en.paidTitle),
};

/** A pattern of a page text with any values filled in. */
export function wordsOf(text: string): RegExp {
  const escaped = text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{\w+\}/g, '.+')}$`);
}

/** All steps from opening the page to "paid". */
export async function payWith(page: Page, gatewayUrl: string, symbol: string): Promise<void> {
  await page.goto(gatewayUrl);
  await steps.connect(page);
  await steps.choose(page, symbol);
  await steps.pay(page);
}

/** Checks that exactly the paid amount has reached its recipients. */
export async function assertSpent(scene: Scene, wallet: TestWallet, symbol: string, left: bigint): Promise<void> {
  assert.equal(await scene.balanceOf(symbol, wallet.address), left);
}
