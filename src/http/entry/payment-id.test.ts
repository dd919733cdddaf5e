import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gatewayUrl, paymentIdIn, plainUrl } from './payment-id.ts';

const ORIGIN = 'https://till.example';
const ID = 'pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6';
const CODE = ID.slice(4);

describe('the payment in a gateway route', () => {
  const links = {
    'the id': ID,
    'the gateway URL': gatewayUrl(ORIGIN, ID),
    'the URL with the id as its path': `${ORIGIN}/${ID}`,
    'the plain URL': plainUrl(ORIGIN, ID),
    'a URL with a language': `${plainUrl(ORIGIN, ID)}?lang=de`,
    'a gateway URL with more parameters': `${ORIGIN}/?lang=de&pid=${ID}`,
  };
  for (const [name, link] of Object.entries(links)) {
    it(`is named by ${name}, as it is or percent-encoded once more`, () => {
      assert.equal(paymentIdIn(link, ORIGIN), ID);
      assert.equal(paymentIdIn(encodeURIComponent(link), ORIGIN), ID);
    });
  }

  for (const other of [
    '',
    CODE,
    ID.toLowerCase(),
    `https://elsewhere.example/?pid=${ID}`,
    `https://elsewhere.example/c/${CODE}`,
    `http://till.example/c/${CODE}`,
    `${ORIGIN}/c/`,
    `${ORIGIN}/c/${CODE.slice(1)}`,
    `${ORIGIN}/c/${CODE}0`,
    `${ORIGIN}/c/${CODE.toLowerCase()}`,
    `${ORIGIN}/c/${ID}/`,
    `${ORIGIN}/d/${CODE}`,
    `${ORIGIN}/a/c/${CODE}`,
    `${ORIGIN}/${CODE}`,
    '%E0%A4%A',
  ]) {
    it(`is not named by "${other}"`, () => assert.equal(paymentIdIn(other, ORIGIN), undefined));
  }
});

describe('the plain URL of a payment', () => {
  it('holds nothing by which wallets take a link for a payment of another service', () => {
    assert.equal(plainUrl(ORIGIN, ID), `${ORIGIN}/c/${CODE}`);
    assert.match(gatewayUrl(ORIGIN, ID), /pay_/);
    // The longest run of letters that could be mistaken: no character of an id follows it as wallets expect.
    const worst = plainUrl(ORIGIN, `pay_${'PAY'.repeat(8)}PA`);
    for (const link of [worst, encodeURIComponent(worst)]) assert.doesNotMatch(link, /pay(\.|=|_|%2e|%3d|%5f)/i);
  });
});
