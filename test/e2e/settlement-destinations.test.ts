import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COLLECTOR_ADDRESS, PERMIT2_ADDRESS } from '../../src/chains/evm/collector.ts';
import { freshKey } from '../gateway.ts';
import {
  BASE,
  BASE_USDC,
  DESTINATION,
  EURC,
  INTERMEDIATE,
  openPayingShop,
  type PayingShop,
  RELAYER,
  SANDBOX,
  USDC,
} from './paying-shop.ts';

const addressOf = (asset: string) => asset.slice(asset.lastIndexOf(':') + 1);
/** Accounts that money must not be sent to: what it is lost in, or would never leave. */
const BAD: readonly (readonly [what: string, address: string, problem: RegExp])[] = [
  ['the Collector', COLLECTOR_ADDRESS, /must not be the Collector/],
  ['the Collector in lower case', COLLECTOR_ADDRESS.toLowerCase(), /must not be the Collector/],
  ['Permit2', PERMIT2_ADDRESS, /must not be Permit2/],
  ['the token itself', addressOf(USDC), /must not be the contract of a token/],
  ['another token', addressOf(EURC), /must not be the contract of a token/],
  ["the operator's account", INTERMEDIATE, /must not be the operator's own account/],
  ["the operator's relayer", RELAYER, /must not be the operator's own account/],
  ['the zero address', `0x${'0'.repeat(40)}`, /all-zero address/],
];

describe('destinations that money must not go to', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop();
  });
  after(() => paying.gateway.stop());

  const url = () => `/v1/merchants/${paying.shop.merchant.id}/settlements`;
  const register = (settlements: readonly { asset: string; destination: string }[]) =>
    paying.gateway.call({
      method: 'POST',
      url: `${url()}/crypto`,
      headers: { ...paying.shop.headers, 'idempotency-key': freshKey() },
      payload: { settlements },
    });
  const all = async () => (await paying.gateway.call({ url: url(), headers: paying.shop.headers })).json().crypto;

  for (const [what, address, problem] of BAD) {
    it(`are refused at registration: ${what}`, async () => {
      const response = await register([{ asset: USDC, destination: `${SANDBOX}:${address}` }]);
      assert.equal(response.statusCode, 400, response.body);
      const { code, issues } = response.json();
      assert.deepEqual([code, issues.length, issues[0].field], ['params_validation', 1, 'settlements[0].destination']);
      assert.match(issues[0].message, problem);
      assert.deepEqual(await all(), []);
    });
  }

  it('are refused on chains that are not connected, and all of them are named at once', async () => {
    const response = await register([
      { asset: BASE_USDC, destination: `${BASE}:${COLLECTOR_ADDRESS}` },
      { asset: USDC, destination: `${SANDBOX}:${DESTINATION}` },
      { asset: EURC, destination: `${SANDBOX}:${PERMIT2_ADDRESS}` },
    ]);
    const fields = response.json().issues.map(({ field }: { field: string }) => field);
    assert.deepEqual(fields, ['settlements[0].destination', 'settlements[2].destination']);
    assert.deepEqual(await all(), []);
  });

  it('are refused as a change, and the destination stays', async () => {
    const made = await register([{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }]);
    const [{ id }] = made.json().settlements;
    for (const [what, address, problem] of BAD) {
      const response = await paying.gateway.call({
        method: 'PUT',
        url: `${url()}/crypto/${id}`,
        headers: paying.shop.headers,
        payload: { destination: `${SANDBOX}:${address}` },
      });
      assert.equal(response.statusCode, 400, what);
      const [issue] = response.json().issues;
      assert.equal(issue.field, 'destination');
      assert.match(issue.message, problem);
    }
    assert.deepEqual(await all(), [{ id, asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }]);
  });
});
