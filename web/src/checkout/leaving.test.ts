import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { notifyEmbedder, returnUrl } from './leaving.ts';

describe('the way back to the shop', () => {
  const cases = [
    ['https://shop.example/thanks', 'https://shop.example/thanks?payment_id=pay_1'],
    ['https://shop.example', 'https://shop.example/?payment_id=pay_1'],
    ['https://shop.example/?', 'https://shop.example/?payment_id=pay_1'],
    ['https://shop.example/a?b=c', 'https://shop.example/a?b=c&payment_id=pay_1'],
    ['https://shop.example/a?sig=a%20b+c%2F&x', 'https://shop.example/a?sig=a%20b+c%2F&x&payment_id=pay_1'],
    ['https://shop.example:8443/a#part?x=1', 'https://shop.example:8443/a?payment_id=pay_1#part?x=1'],
    [
      'https://shop.example/café?straße=ü#ñ',
      'https://shop.example/caf%C3%A9?stra%C3%9Fe=%C3%BC&payment_id=pay_1#%C3%B1',
    ],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/?payment_id=pay_1'],
    ['http://localhost:3000/done', 'http://localhost:3000/done?payment_id=pay_1'],
  ] as const;
  for (const [shop, expected] of cases) {
    it(`appends the payment to ${shop}`, () => assert.equal(returnUrl(shop, 'pay_1'), expected));
  }

  it('goes nowhere a script could run', () => {
    for (const url of ['javascript:alert(1)', 'data:text/html,x', 'nonsense', '']) {
      assert.equal(returnUrl(url, 'pay_1'), null);
    }
  });
});

describe('the message to an app around the page', () => {
  it('goes out by every bridge, and survives broken ones', () => {
    const messages: unknown[] = [];
    const host = {
      ReactNativeWebView: { postMessage: (text: string) => messages.push(['react native', JSON.parse(text)]) },
      AndroidWallet: {
        onDataCollectionComplete: () => {
          throw new Error('broken');
        },
      },
      webkit: {
        messageHandlers: {
          payDataCollectionComplete: { postMessage: (message: unknown) => messages.push(['ios', message]) },
        },
      },
      parent: { postMessage: (message: unknown) => messages.push(['parent', message]) },
      opener: { postMessage: (message: unknown) => messages.push(['opener', message]) },
    };
    notifyEmbedder(host as unknown as Window, true);
    const message = { type: 'PAY_SUCCESS', success: true };
    assert.deepEqual(messages, [
      ['react native', message],
      ['ios', message],
      ['parent', message],
      ['opener', message],
    ]);
  });

  it('says that nothing was paid', () => {
    const messages: string[] = [];
    const host = { ReactNativeWebView: { postMessage: (text: string) => messages.push(text) }, opener: null };
    notifyEmbedder(Object.assign(host, { parent: host }) as unknown as Window, false);
    assert.deepEqual(
      messages.map((text) => JSON.parse(text).type),
      ['PAY_FAILURE'],
    );
  });
});
