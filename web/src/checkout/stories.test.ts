import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { launchBrowser, missingBrowser } from '../../../test/browser/chromium.ts';
import { IS_LONG, ONLY_LONG } from '../../../test/long.ts';
import { accessProblems } from '../../scripts/access-problems.ts';
import { type StoryServer, serveStories } from '../../scripts/story-server.ts';

const DESK: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** Steps of successful, waiting and failed payments. */
const STEPS = [
  ...['ready', 'connecting', 'choosing', 'choosing-many', 'setup', 'signing', 'confirming', 'waiting-balance'],
  ...['looking', 'paid-returning', 'expired-alone', 'offline'],
];

/** States that the suites with a real gateway do not reach. `npm run pictures:pages` checks all states in both themes. */
const RARE = [
  ...[
    'ready-long-order',
    'ready-phone',
    'ready-no-wallet',
    'ready-late-money',
    'no-funds',
    'nothing-offered',
    'sold-out',

    'refused',
    'setup-mining',
  ],
  ...['looking', 'paid-mail', 'failed', 'hostile-merchant', 'unavailable', 'arabic', 'picking-many', 'transfer-part'],
  ...['arabic-transfer', 'branded', 'refund-fee', 'refund-other-account'],
];
/** States that differ from others in a text or a colour. */
const SIMILAR = [
  ...[
    'ready-lapsed',
    'ready-lapsed-part',
    'choosing-new-price',
    'confirming-unseen',
    'waiting-balance',
    'paid-copied',
    'expired-alone',
  ],
  ...['offline', 'arabic-paid', 'transfer', 'transfer-seen', 'german-transfer', 'branded-bright', 'refund-branded'],
  ...['refund-stopped', 'refund-arabic'],
];

describe('the states of the page', { skip: missingBrowser(), concurrency: 2 }, () => {
  let server: StoryServer;
  let browser: Browser;
  before(async () => {
    [server, browser] = await Promise.all([serveStories(), launchBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  async function visit(options: BrowserContextOptions, inspect: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    try {
      await inspect(await context.newPage());
    } finally {
      await context.close();
    }
  }
  const open = (page: Page, story: string) => page.goto(`${server.url}/story/${story}`, { waitUntil: 'load' });

  /** The boxes of the card and the footer in each story. */
  async function placesOf(page: Page, stories: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const places = new Map<string, string>();
    for (const story of stories) {
      await open(page, story);
      const [card, foot] = [await page.locator('.panel').boundingBox(), await page.locator('.foot').boundingBox()];
      places.set(story, JSON.stringify({ card, foot }));
    }
    return places;
  }

  it('pass axe and fit the width of a phone', async () => {
    await visit(PHONE, async (page) => {
      const problems: string[] = [];
      for (const story of IS_LONG ? [...RARE, ...SIMILAR] : RARE) {
        await open(page, story);
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        const found = [...(isWide ? ['wider than the window'] : []), ...(await accessProblems(page))];
        problems.push(...found.map((problem) => `${story}: ${problem}`));
      }
      assert.deepEqual(problems, []);
    });
  });

  for (const [device, options] of [
    ['desk', DESK],
    ['phone', PHONE],
  ] as const) {
    it(`keep the card and the footer in place on a ${device}`, async () => {
      await visit(options, async (page) => {
        const places = await placesOf(page, STEPS);
        const moved = [...places].filter(([, place]) => place !== places.get('ready'));
        assert.deepEqual(
          moved.map(([story]) => story),
          [],
        );
      });
    });
  }

  it('name money in another token while the payment is open, and do not begin with what costs nothing', async () => {
    await visit(PHONE, async (page) => {
      await open(page, 'ready');
      assert.match(await page.innerText('.panel'), /costs nothing/);
      await open(page, 'ready-late-money');
      const text = await page.innerText('.panel');
      assert.match(text, /Another token\s+[\d.]+\sEURC\s+It did not count for this payment/);
      assert.doesNotMatch(text, /nothing/i);
    });
  });

  it('keep the mark in place', ONLY_LONG, async () => {
    await visit(DESK, async (page) => {
      const tops = new Set<number | undefined>();
      for (const story of ['connecting', 'checking-balances', 'signing', 'confirming', 'looking', 'paid', 'no-funds']) {
        await open(page, story);
        tops.add((await page.locator('.mark').boundingBox())?.y);
      }
      assert.equal(tops.size, 1);
    });
  });

  it('show the chosen option with a frame and a hovered one with a background', async () => {
    await visit(DESK, async (page) => {
      await open(page, 'choosing');
      const [chosen, other] = [page.locator('.option').nth(0), page.locator('.option').nth(1)];
      const plain = await stylesOf(other);
      await other.hover();
      const [frame, pointed] = [await stylesOf(chosen), await stylesOf(other)];
      assert.notEqual(pointed.ground, plain.ground, 'the one pointed at gets a ground');
      assert.equal(pointed.frame, plain.frame, 'and no frame');
      assert.notEqual(frame.frame, plain.frame, 'the chosen one has a frame');
      assert.equal(frame.ground, plain.ground, 'and no ground');
    });
  });

  it('mention a code only where they show one', async () => {
    for (const story of ['ready', 'ready-phone', 'ready-no-wallet']) {
      await visit(PHONE, async (page) => {
        await open(page, story);
        assert.doesNotMatch(await page.locator('main').innerText(), /\b(scan|code)\b/i, story);
        assert.equal(await page.getByRole('img').count(), 0, story);
        if (story !== 'ready') await page.getByRole('link', { name: 'MetaMask' }).waitFor();
      });
    }
    await visit(DESK, async (page) => {
      await open(page, 'ready-no-wallet');
      assert.match(await page.locator('main').innerText(), /Scan the code/);
      assert.ok(await page.getByRole('img', { name: /^QR code/ }).isVisible());
      assert.equal(await page.getByRole('link', { name: 'MetaMask' }).count(), 0);
    });
  });

  it('place the number of every amount to the right of its currency in Arabic', async () => {
    await visit(PHONE, async (page) => {
      await open(page, 'arabic');
      const amounts = page.locator('.amount .money, .option .money, .button-main .money');
      assert.equal(await amounts.count(), 6);
      for (const amount of await amounts.all()) {
        const { number, currency } = await placesIn(amount);
        assert.ok(currency < number, `${await amount.innerText()}: ${currency} is not left of ${number}`);
      }
    });
  });

  it('list the items of an order, and fold a long list without JavaScript', async () => {
    await visit({ ...DESK, javaScriptEnabled: false }, async (page) => {
      await open(page, 'ready-order');
      assert.match(
        await page.locator('.order').innerText(),
        /Saturday tasting.*2 × Tasting menu\s+€36\.00\s+Bag of beans/s,
      );
      await open(page, 'ready-long-order');
      const shown = page.locator('.item:visible');
      assert.equal(await shown.count(), 3);
      await page.getByText('Show 4 more').click();
      assert.equal(await shown.count(), 7);
      await page.getByText('Show fewer').click();
      assert.equal(await shown.count(), 3);
    });
  });
});

/** The computed background and frame of an element. */
function stylesOf(element: Locator): Promise<{ readonly ground: string; readonly frame: string }> {
  return element.evaluate((node) => {
    const { backgroundColor, borderColor, boxShadow } = getComputedStyle(node);
    return { ground: backgroundColor, frame: `${borderColor} ${boxShadow}` };
  });
}

/** The left edges of the digits and of the currency of an amount. */
function placesIn(amount: Locator): Promise<{ readonly number: number; readonly currency: number }> {
  return amount.evaluate((node) => {
    const text = node.textContent ?? '';
    const place = (pattern: RegExp) => {
      const found = pattern.exec(text);
      const range = document.createRange();
      range.setStart(node.firstChild as Node, found?.index ?? 0);
      range.setEnd(node.firstChild as Node, (found?.index ?? 0) + (found?.[0].length ?? 0));
      return range.getBoundingClientRect().left;
    };
    return { number: place(/[\d.,]+/), currency: place(/[A-Z]{3,}|€/) };
  });
}
