import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PayableCurrency } from '../../../src/domain/currency.ts';
import { createServerClock } from '../shared/server-clock.ts';
import { endingOf, type FinalStatus } from './ending.ts';
import type { Answer, Request } from './gateway.ts';
import { percentOf, type Storage, TIPS, tipOf, totalOf } from './kept.ts';
import { createPos } from './pos.ts';
import { type PosWords, STRINGS } from './pos-words.ts';

const OK = (body: object, etag?: string): Answer => ({ is: 'ok', body, etag, serverMs: 1_000_000 });
const REFUSED = (status: number): Answer => ({ is: 'refused', status, code: 'x', message: 'No.' });
const LOST: Answer = { is: 'unknown' };
const SESSION = OK({
  person: { name: 'Casey' },
  merchant: { id: 'mrch_1', name: 'Kiosk' },
  rights: ['payments:write'],
  modes: ['test'],
});
const CREATED = OK({ paymentId: 'pay_1', gatewayUrl: 'http://till/?pid=pay_1', expiresAt: 1_300 });
const BRAND = { logoUrl: 'http://till/logos/0a1b', accentColor: '#635bff' };
const status = (name: string) => OK({ status: name }, `"${name}"`);

function newStorage(): Storage & { readonly items: Map<string, string> } {
  const items = new Map<string, string>();
  return { items, getItem: (name) => items.get(name) ?? null, setItem: (name, text) => void items.set(name, text) };
}

/** A device, and the answers that it gets. A request without an answer waits until the device is switched off. */
function newDevice(
  storage: Storage,
  answer: (request: Request) => Answer | undefined,
  brand: () => Answer = () => OK({ branding: BRAND }),
  currencies: readonly PayableCurrency[] = [
    { code: 'USD', decimals: 2, modes: ['test', 'live'] },
    { code: 'HUF', decimals: 2, modes: ['test', 'live'] },
  ],
  ofMerchant: () => Answer = () => LOST,
) {
  const requests: Request[] = [];
  const outside = new EventTarget();
  let paid = 0;
  const pos = createPos({
    ask: async (request, signal) => {
      if (isBranding(request)) return brand();
      if (request.path.endsWith('/currencies')) return ofMerchant();
      requests.push(request);
      const found = answer(request);
      if (found !== undefined) return found;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(LOST), { once: true }));
    },
    storage,
    clock: createServerClock(1_000_000, () => 0, 0),
    newKey: () => 'key-1234-5678',
    random: () => 0.5,
    outside,
    onPaid: () => {
      paid += 1;
    },
    firstMode: 'test',
    currencies,
    words: { sale: 'Sale', tip: 'Tip' },
  });
  const until = async (isThere: () => boolean) => {
    for (let tries = 0; tries < 500 && !isThere(); tries += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      outside.dispatchEvent(new Event('wake'));
    }
    assert.ok(isThere(), JSON.stringify(pos.view()));
  };
  return { pos, requests, until, paid: () => paid };
}

const isBranding = ({ path }: Request) => path === '/v1/merchants/mrch_1/branding';
const isCreate = ({ path }: Request) => path === '/v1/payments';
const isStatus = ({ path }: Request) => path.startsWith('/v1/payments/pay_1/status');

const isDetails = ({ path }: Request) => path === '/v1/payments/pay_1';

describe('the point of sale', () => {
  it('has the look of its merchant, also after a restart without a connection', async () => {
    const storage = newStorage();
    const brandOf = (device: ReturnType<typeof newDevice>) => device.pos.view().kept.place?.brand;
    const first = newDevice(storage, () => SESSION);
    await first.pos.start('');
    await first.until(() => brandOf(first) !== undefined);
    assert.deepEqual(brandOf(first), BRAND);
    first.pos.stop();
    const second = newDevice(
      storage,
      () => SESSION,
      () => LOST,
    );
    await second.pos.start('');
    assert.deepEqual(brandOf(second), BRAND);
    second.pos.stop();
    const moved = OK({ ...(SESSION as { body: object }).body, merchant: { id: 'mrch_2', name: 'Bar' } });
    const third = newDevice(storage, ({ path }) => (path.endsWith('/branding') ? LOST : moved));
    await third.pos.start('');
    assert.equal(brandOf(third), undefined, 'another merchant has not the look of the first');
    third.pos.stop();
  });

  it('charges in a currency that the merchant’s assets can pay, also after a restart without a connection', async () => {
    const storage = newStorage();
    const codes = OK({ currencies: [{ code: 'HUF', decimals: 2 }] });
    const first = newDevice(
      storage,
      () => SESSION,
      undefined,
      undefined,
      () => codes,
    );
    await first.pos.start('');
    await first.until(() => first.pos.view().kept.currency === 'HUF');
    first.pos.stop();
    const second = newDevice(storage, (request) => (isCreate(request) ? CREATED : SESSION));
    await second.pos.start('');
    second.pos.charge('1000', '0');
    await second.until(() => second.requests.some(isCreate));
    const order = second.requests.find(isCreate)?.body as { amount: object } | undefined;
    assert.deepEqual(order?.amount, { unit: 'iso4217/HUF', value: '1000' });
    second.pos.stop();
  });

  it('takes a payment, and says paid once the gateway says succeeded', async () => {
    const statuses = ['requires_action', 'processing', 'succeeded'];
    const device = newDevice(newStorage(), (request) => {
      if (isCreate(request)) return CREATED;
      return isStatus(request) ? status(statuses.shift() ?? 'succeeded') : SESSION;
    });
    await device.pos.start('');
    device.pos.charge('1000', '150');
    await device.until(() => device.pos.view().status === 'succeeded');
    assert.equal(device.paid(), 1);
    const body = device.requests.find(isCreate)?.body as { amount: object; lineItems: readonly object[] };
    assert.deepEqual(body.amount, { unit: 'iso4217/USD', value: '1150' });
    assert.equal(body.lineItems.length, 2);
    assert.deepEqual(device.pos.view().kept.recent[0]?.status, 'succeeded');
    device.pos.done();
    assert.equal(device.pos.view().kept.open, null);
    device.pos.stop();
  });

  it('keeps the key before it sends the order, and sends the same one after a loss of power', async () => {
    const storage = newStorage();
    const first = newDevice(storage, (request) => (isCreate(request) ? undefined : SESSION));
    await first.pos.start('');
    first.pos.charge('500', '0');
    await first.until(() => first.requests.some(isCreate));
    assert.match(storage.items.get('till.pos') ?? '', /key-1234-5678/);
    first.pos.stop();

    const second = newDevice(storage, (request) => {
      if (isCreate(request)) return CREATED;
      return isStatus(request) ? status('succeeded') : SESSION;
    });
    await second.pos.start('');
    await second.until(() => second.pos.view().status === 'succeeded');
    const keys = [...first.requests, ...second.requests].filter(isCreate).map((request) => request.idempotencyKey);
    assert.deepEqual(new Set(keys), new Set(['key-1234-5678']));
    const [one, two] = [...first.requests, ...second.requests].filter(isCreate);
    assert.deepEqual(one?.body, two?.body);
    second.pos.stop();
  });

  it('goes on waiting through lost connections, and is never paid by them', async () => {
    let answers: (Answer | undefined)[] = [LOST, LOST, LOST];
    const device = newDevice(newStorage(), (request) => {
      if (isCreate(request)) return answers.length > 0 ? answers.shift() : CREATED;
      return isStatus(request) ? (answers.length > 0 ? answers.shift() : status('processing')) : SESSION;
    });
    await device.pos.start('');
    device.pos.charge('500', '0');
    await device.until(() => device.pos.view().isOffline);
    await device.until(() => device.pos.view().status === 'processing');
    assert.equal(device.pos.view().isOffline, false);
    answers = [LOST, LOST];
    await device.until(() => device.pos.view().isOffline);
    assert.equal(device.pos.view().status, 'processing');
    assert.equal(device.paid(), 0);
    device.pos.stop();
  });

  it('forgets an order that was refused, says why, and gives its amount and its tip back to the keypad', async () => {
    const device = newDevice(newStorage(), (request) => (isCreate(request) ? REFUSED(403) : SESSION));
    await device.pos.start('');
    device.pos.charge('500', '75');
    await device.until(() => device.pos.view().problem?.kind === 'refused');
    assert.equal(device.pos.view().kept.open, null);
    assert.deepEqual(device.pos.view().problem, {
      kind: 'refused',
      message: 'No.',
      order: { amount: '500', tip: '75' },
    });
    device.pos.stop();
  });

  it('offers a currency that can be paid, with the decimals of the gateway, in place of one that cannot', () => {
    const storage = newStorage();
    const brand = () => LOST;
    const first = newDevice(storage, () => SESSION, brand);
    first.pos.choose({ currency: 'HUF' });
    assert.equal(newDevice(storage, () => SESSION, brand).pos.view().kept.currency, 'HUF');
    const euros = [{ code: 'EUR', decimals: 2, modes: ['test'] }] as const;
    assert.equal(newDevice(storage, () => SESSION, brand, euros).pos.view().kept.currency, 'EUR');
  });

  it('charges in no currency that only payments of the other mode take', async () => {
    const storage = newStorage();
    const dollars = { code: 'USD', decimals: 2, modes: ['test', 'live'] } as const;
    const euros = { code: 'EUR', decimals: 2, modes: ['test'] } as const;
    const answer = (request: Request) => (isCreate(request) ? CREATED : isStatus(request) ? undefined : SESSION);
    const brand = () => LOST;
    const first = newDevice(storage, answer, brand, [euros, dollars]);
    await first.pos.start('');
    assert.equal(first.pos.view().kept.currency, 'USD', 'the stored currency can be paid in this mode');
    first.pos.choose({ currency: 'EUR' });
    assert.equal(first.pos.view().kept.currency, 'EUR');
    const place = { merchantId: 'mrch_1', merchantName: 'Kiosk', mode: 'live' } as const;
    first.pos.choose({ place });
    assert.equal(first.pos.view().kept.currency, 'USD', 'live payments do not take euros');
    first.pos.charge('500', '0');
    await first.until(() => first.requests.some(isCreate));
    const { mode, body } = first.requests.find(isCreate) ?? {};
    assert.deepEqual([mode, (body as { amount: object }).amount], ['live', { unit: 'iso4217/USD', value: '500' }]);
    first.pos.stop();
  });

  it('keeps the order when its session has ended, and goes on after the next sign-in', async () => {
    const storage = newStorage();
    let isIn = true;
    const answer = (request: Request) => {
      if (request.path === '/v1/sessions') {
        isIn = true;
        return OK({});
      }
      if (!isIn) return REFUSED(401);
      if (isCreate(request)) return CREATED;
      if (!isStatus(request)) return SESSION;
      isIn = false;
      return status('requires_action');
    };
    const first = newDevice(storage, answer);
    await first.pos.start('');
    first.pos.charge('500', '0');
    await first.until(() => first.pos.view().session === 'out');
    first.pos.stop();
    const second = newDevice(storage, (request) => (isStatus(request) && isIn ? status('succeeded') : answer(request)));
    await second.pos.start('token');
    await second.until(() => second.pos.view().status === 'succeeded');
    second.pos.stop();
  });

  it('says that there is no connection while a link waits for its answer', async () => {
    let isUp = false;
    const device = newDevice(newStorage(), ({ path }) => {
      if (path !== '/v1/sessions') return SESSION;
      return isUp ? OK({}) : LOST;
    });
    const started = device.pos.start('token');
    await device.until(() => device.pos.view().isOffline);
    isUp = true;
    await started;
    assert.deepEqual([device.pos.view().session, device.pos.view().isOffline], ['in', false]);
    device.pos.stop();
  });

  it('leaves the outcome of a cancellation to the gateway', async () => {
    let current = 'requires_action';
    const device = newDevice(newStorage(), (request) => {
      if (isCreate(request)) return CREATED;
      if (request.path.endsWith('/cancel')) {
        current = 'succeeded';
        return REFUSED(400);
      }
      return isStatus(request) ? status(current) : SESSION;
    });
    await device.pos.start('');
    device.pos.charge('500', '0');
    await device.until(() => device.pos.view().status === 'requires_action');
    await device.pos.cancel();
    await device.until(() => device.pos.view().status === 'succeeded');
    device.pos.stop();
  });

  it('shows the late money of a payment that has ended, also after a restart, and goes on asking for it', async () => {
    const storage = newStorage();
    const display = { assetSymbol: 'USDC', assetName: 'USD Coin', decimals: 6 };
    const amount = { unit: 'caip19/eip155:8453/erc20:0x1', value: '12000000', display };
    const money = { id: 'stry_1', reason: 'underpaid', status: 'unclaimed', amount, sender: null };
    let late: object[] = [];
    const answer = (request: Request) => {
      if (isCreate(request)) return CREATED;
      if (isDetails(request)) return OK({ lateMoney: late });
      return isStatus(request) ? status('expired') : SESSION;
    };
    const words = STRINGS.en as PosWords;
    const shownBy = ({ pos }: ReturnType<typeof newDevice>) => {
      const [payment] = pos.view().kept.recent;
      const { lateMoney, status: ended } = payment ?? {};
      return endingOf({ status: ended as FinalStatus, lateMoney }, words, { locale: 'en', dir: 'ltr' });
    };
    const first = newDevice(storage, answer);
    await first.pos.start('');
    first.pos.charge('3000', '0');
    await first.until(() => first.requests.some(isDetails));
    assert.deepEqual([shownBy(first).late, shownBy(first).mayChargeAgain], [null, true]);
    late = [money];
    await first.until(() => shownBy(first).late !== null);
    assert.deepEqual(shownBy(first), {
      title: 'Expired',
      text: 'The time to pay is over.',
      late: {
        title: words.lateMoney,
        rows: [{ label: words.underpaid, value: '12.00\u00a0USDC' }],
        text: words.lateText,
      },
      mayChargeAgain: false,
    });
    first.pos.stop();

    const second = newDevice(storage, (request) => (isDetails(request) ? LOST : answer(request)));
    await second.pos.start('');
    await second.until(() => second.requests.some(isDetails));
    assert.equal(shownBy(second).late?.rows.length, 1);
    second.pos.stop();

    late = [{ ...money, status: 'returned' }];
    const third = newDevice(storage, answer);
    await third.pos.start('');
    await third.until(() => shownBy(third).late?.text === words.lateReturned);
    assert.equal(shownBy(third).mayChargeAgain, true);
    third.pos.stop();
  });

  it('sends nothing when the browser stores nothing', async () => {
    const storage = {
      getItem: () => null,
      setItem: () => {
        throw new Error('full');
      },
    };
    const device = newDevice(storage, () => SESSION);
    await device.pos.start('');
    device.pos.charge('500', '0');
    assert.equal(device.pos.view().problem?.kind, 'storage');
    assert.equal(device.requests.some(isCreate), false);
    device.pos.stop();
  });

  it('counts tips in minor units', () => {
    assert.deepEqual([tipOf('1000', 15), tipOf('333', 10), tipOf('5', 10), tipOf('4', 10)], ['150', '33', '1', '0']);
    for (const amount of ['1000', '333', '5', '0']) {
      for (const percent of TIPS)
        assert.equal(tipOf(amount, percentOf(amount, tipOf(amount, percent))), tipOf(amount, percent));
    }
    assert.equal(totalOf({ amount: '9007199254740993', tip: '1' }), '9007199254740994');
  });
});
