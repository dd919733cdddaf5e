import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Lie, LieScope } from '../rpc-proxy.ts';
import { until } from '../until.ts';
import { BLOCK_MS, type FaultScene, openFaultScene } from './fault-scene.ts';
import { WITHIN } from './shopper.ts';

const SECOND = 'eip155:84532';
const BAD_GATEWAY: Lie = { as: 'status', status: 502, isForwarded: false };
const THROTTLED: Lie = { as: 'status', status: 429, isForwarded: false };
const SILENCE: Lie = { as: 'silence', isForwarded: false };
/** Enough requests that a fault which reaches one in ten of them is seen. */
const REQUESTS = 16;
const AT_ONCE = 4;

describe('endpoints that fail again and again', () => {
  let scene: FaultScene;
  before(async () => {
    scene = await openFaultScene({ endpoints: 2, hasSecond: true, payers: 12, haste: 1 });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  const accountHere = () => `${scene.network}:${scene.chain.newPayer().address}`;
  const networksOf = (body: { options?: { account: string }[] }) =>
    [...new Set((body.options ?? []).map(({ account }) => account.split(':').slice(0, 2).join(':')))].sort();
  const ready = async () => {
    const { chains } = (await scene.node.gateway.call({ url: '/ready' })).json();
    return chains as { network: string; state: string; remarks: string[] }[];
  };

  type Faults = readonly [Lie, LieScope?][];
  const flapping: readonly (readonly [what: string, faults: Faults])[] = [
    ['each of two endpoints answers 429 to every second request', Array(2).fill([THROTTLED, { every: 2 }])],
    ['each of two endpoints answers 502 to every second request', Array(2).fill([BAD_GATEWAY, { every: 2 }])],
    [
      'one of two endpoints is silent and the other answers 502 to every third request',
      [[SILENCE], [BAD_GATEWAY, { every: 3 }]],
    ],
  ];
  for (const [what, faults] of flapping) {
    it(`every option request is answered while ${what}`, async () => {
      const { id } = await scene.shopper.create();
      const account = accountHere();
      for (const [index, [lie, scope]] of faults.entries()) scene.proxies[index]?.lie(lie, scope);
      const refused: string[] = [];
      for (let asked = 0; asked < REQUESTS; asked += AT_ONCE) {
        const some = Array.from({ length: AT_ONCE }, () => scene.shopper.wallet.options(id, [account]));
        for (const answer of await Promise.all(some)) {
          if (answer.statusCode !== 200) refused.push(answer.body);
          else assert.deepEqual(networksOf(answer.json()), [scene.network]);
        }
      }
      assert.deepEqual(refused, [], scene.node.log());
    });
  }

  it('a payment is confirmed and carried out while each endpoint throttles every second request', async () => {
    for (const proxy of scene.proxies) proxy.lie(THROTTLED, { every: 2 });
    const payment = await scene.shopper.sign();
    assert.equal((await payment.confirm()).statusCode, 200);
    // A node with half its calls refused keeps up with the network, but not with blocks mined without a pause.
    await scene.shopper.reaches(payment, 'succeeded', BLOCK_MS);
    await scene.shopper.isPaidOnce(payment);
  });

  it('the options of a healthy network come back while all endpoints of another are silent, and log and /ready say why', async () => {
    const { second } = scene;
    assert.ok(second);
    const { id } = await scene.shopper.create();
    const accounts = [accountHere(), `${SECOND}:${second.newPayer().address}`];
    for (const proxy of scene.proxies) proxy.lie(SILENCE);
    const answer = await scene.shopper.wallet.options(id, accounts);
    assert.equal(answer.statusCode, 200, answer.body);
    assert.deepEqual(networksOf(answer.json()), [SECOND]);
    assert.match(scene.node.log(), /"network":"eip155:31337".*left out of options/);
    await until(
      'the endpoints are left alone',
      async () => (await ready()).find(({ network }) => network === scene.network)?.state === 'down',
      WITHIN,
    );
    const [here, there] = await ready();
    assert.match(
      here?.remarks.join(' ') ?? '',
      /Endpoint 1 did not answer in time\. Endpoint 2 did not answer in time\./,
    );
    assert.equal(there?.state, 'up');
    assert.match(scene.node.log(), /"endpoint":"endpoint 1","reason":"did not answer in time"/);
  });

  it('confirming is answered "try again" while all endpoints hang, and the same signature is taken when they are back', async () => {
    const payment = await scene.shopper.sign();
    for (const proxy of scene.proxies) proxy.lie(SILENCE);
    const refused = await payment.confirm();
    assert.deepEqual([refused.statusCode, refused.json().code], [503, 'internal_error'], refused.body);
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d*$/);
    assert.equal(await scene.shopper.status(payment), 'requires_action');
    scene.answerTruthfully();
    await until('the confirmation is taken', async () => (await payment.confirm()).statusCode === 200, WITHIN);
    await scene.shopper.reaches(payment, 'succeeded', BLOCK_MS);
    await scene.shopper.isPaidOnce(payment);
  });

  it('no option on a healthy network and no answer of another is "try again", and not "no money"', async () => {
    const { id } = await scene.shopper.create();
    const accounts = [accountHere(), `${SECOND}:0x00000000000000000000000000000000000000AA`];
    for (const proxy of scene.proxies) proxy.lie(BAD_GATEWAY);
    const answer = await scene.shopper.wallet.options(id, accounts);
    assert.equal(answer.statusCode, 503, answer.body);
    assert.match(answer.json().message, /Till Sandbox/);
  });
});
