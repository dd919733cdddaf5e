import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import { createExternalSigner } from '../../src/chains/evm/external-signer.ts';
import { createLocalSigner } from '../../src/chains/evm/local-signer.ts';
import { offerOf } from '../../src/chains/evm/offer.ts';
import { sampleItem } from '../../src/chains/evm/sample-item.fixture.ts';
import { type Signable, SignerRefusedError } from '../../src/chains/signable.ts';
import type { Signer } from '../../src/chains/signer.ts';
import { payoutIdOf, refundIdOf } from '../../src/domain/ids.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene } from '../e2e/refund-scene.ts';
import { INTERMEDIATE_KEY, type TestNode } from '../e2e/relay-scene.ts';
import { ONLY_LONG } from '../long.ts';
import { findNetwork } from '../registry.ts';

const PROGRAM = join(import.meta.dirname, '../../docs/examples/policy-signer.mjs');
const MINUTE_MS = 60_000;
const { address } = createLocalSigner(INTERMEDIATE_KEY);

/** The example of the docs in a process of its own. */
async function startPolicySigner(env: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM], {
    env: { SIGNER_KEY: INTERMEDIATE_KEY, SIGNER_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (child.stdout === null) throw new Error('The signer has no output.');
  const [line] = await once(createInterface(child.stdout), 'line');
  const url = String(line).replace('listening on ', '');
  return {
    url,
    port: new URL(url).port,
    signer: createExternalSigner({ timers: systemWorld.timers, url, address }),
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('a signer with a policy of its own', () => {
  let policy: Awaited<ReturnType<typeof startPolicySigner>>;
  let scene: RefundScene;
  let node: TestNode;
  let destination: string;
  beforeEach(async () => {
    policy = await startPolicySigner({ SIGNER_LIMITS: `${DOLLAR}=1500,${COIN}=5000` });
    scene = await openRefundScene({ intermediateSigner: policy.signer });
    node = await scene.newNode();
    destination = scene.payers.newAccount();
  });
  afterEach(async () => {
    await scene.close();
    await policy.stop();
  });

  it('signs a payout within its limit, refuses one above it with an alert, and signs it when the limit allows it', async () => {
    const first = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await scene.live(node);
    assert.equal((await scene.payout(first.id))?.state, 'paid');

    const second = await scene.paid(node, { isHeld: true });
    await scene.live(node);
    assert.equal((await scene.payout(second.id))?.state, 'sending');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    assert.deepEqual(await scene.alerts(), [`signer_refused ${await scene.payoutIdOf(second.id)}`]);
    assert.match(
      (await scene.alertText('signer_refused')) ?? '',
      /^A payout of .* USDC .* waits, because the external signer refuses it: 1980 units would leave within an hour, and the limit is 1500$/,
    );

    await policy.stop();
    policy = await startPolicySigner({ SIGNER_LIMITS: `${DOLLAR}=5000`, SIGNER_PORT: policy.port });
    scene.pass(MINUTE_MS + 1);
    await scene.live(node);
    assert.equal((await scene.payout(second.id))?.state, 'paid');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 2n * 990n);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('lets a refused payout wait beyond the life of its terms, and pays it once', ONLY_LONG, async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await policy.stop();
    policy = await startPolicySigner({ SIGNER_LIMITS: `${DOLLAR}=1`, SIGNER_PORT: policy.port });
    await scene.register(destination);
    for (let hours = 0; hours < 8; hours += 1) {
      await scene.live(node, 2);
      scene.pass(60 * MINUTE_MS);
    }
    assert.equal((await scene.payout(id))?.state, 'sending');
    await policy.stop();
    policy = await startPolicySigner({ SIGNER_LIMITS: `${DOLLAR}=5000`, SIGNER_PORT: policy.port });
    for (let minutes = 0; minutes < 10; minutes += 1) {
      await scene.live(node, 2);
      scene.pass(MINUTE_MS + 1);
    }
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('signs no content but the one of the digest, and only for the recipient that the digest covers', async () => {
    const { chain } = scene;
    const requests: [Uint8Array, Signable][] = [];
    const spy: Signer = {
      address,
      sign: (digest, content) => {
        requests.push([digest, content]);
        return policy.signer.sign(digest, content);
      },
    };
    const own = sampleItem('eip3009-vrs', { payer: address, fee: 0n, amount: 100n });
    const item = { ...own, subject: payoutIdOf(own.subject) };
    await chain.sender.signItem(spy, item);
    const [digest, content] = requests[0] ?? assert.fail('Nothing was signed.');
    const refuses = (changed: Signable, reason: RegExp, of = digest) =>
      assert.rejects(policy.signer.sign(of, changed), (error: Error) => {
        return error instanceof SignerRefusedError && reason.test(error.reason);
      });
    const thief = '0x9999999999999999999999999999999999999999';
    await refuses({ ...content, items: [{ ...item, recipient: thief }] }, /does not cover this item/);
    await refuses({ ...content, items: [{ ...item, amount: 1n }] }, /another amount/);
    await refuses(content, /not the one of the typed data/, new Uint8Array(32).fill(3));
    await refuses({ ...content, items: [] }, /one item/);
    await assert.rejects(chain.sender.signItem(spy, { ...item, subject: own.subject }), /another purpose/);
    await assert.rejects(chain.sender.signItem(spy, { ...item, collector: thief }), /unknown Collector/);
    await assert.rejects(
      chain.sender.signItem(spy, { ...sampleItem('permit2', { payer: address, fee: 0n }), subject: item.subject }),
      /there is no limit for/,
    );
  });

  it('checks transactions of an EVM chain: batches, empty ones, and its own coin up to the limit', async () => {
    const network = findNetwork('eip155:31337') ?? assert.fail('There is no sandbox.');
    const none = { post: () => Promise.reject(new Error('no endpoint')), close: () => {} };
    const chain = createEvmChain({ world: systemWorld, network, endpoints: [none] });
    const bid = { slot: 3, offer: offerOf({ max: 5_000_000_000n, tip: 1_000_000n }) };
    const signed = (item: ReturnType<typeof sampleItem>) => {
      return {
        item,
        commitment: chain.payerSide.commitmentOf(item),
        signature: `0x${'11'.repeat(65)}`,
        hasCode: false,
      };
    };
    const batch = ['a', 'b'].map(() => signed(sampleItem('eip3009-vrs', { payer: scene.payers.newAccount() })));
    assert.match((await chain.sender.signBatch(policy.signer, batch, bid)).hash, /^0x/);
    assert.match((await chain.sender.signNothing(policy.signer, bid)).hash, /^0x/);
    const coin = (amount: bigint) => {
      const item = sampleItem('native', { payer: address, fee: 0n, amount });
      return signed({ ...item, subject: refundIdOf(item.subject, 1) });
    };
    assert.match((await chain.sender.signBatch(policy.signer, [coin(4_000n)], bid)).hash, /^0x/);
    await assert.rejects(chain.sender.signBatch(policy.signer, [coin(4_000n)], bid), /8000 units would leave/);
    chain.close();
  });
});

describe('a relayer whose signer refuses an item', () => {
  it('sends the other items of the batch, raises an alert with the reason, and sends the item when it may', async () => {
    const key = createLocalSigner(`0x${'1'.repeat(64)}`);
    let refused: string | undefined;
    const relayer: Signer = {
      address: key.address,
      async sign(digest, { items }) {
        if (items.some(({ subject }) => subject === refused)) throw new SignerRefusedError('not today');
        return key.sign(digest);
      },
    };
    const scene = await openRefundScene({ relayer });
    try {
      const node = await scene.newNode();
      const payments: { readonly id: string }[] = [];
      for (let count = 0; count < 5; count += 1) payments.push(await scene.accept());
      refused = payments[2]?.id ?? '';
      await node.turn(2);
      const statuses = () => Promise.all(payments.map(({ id }) => scene.status(id)));
      const expected = payments.map(({ id }) => (id === refused ? 'processing' : 'succeeded'));
      assert.deepEqual(await statuses(), expected);
      assert.deepEqual(await scene.alerts(), [`signer_refused ${scene.network}`]);
      assert.match((await scene.alertText('signer_refused')) ?? '', new RegExp(`with ${refused} .*: not today$`));
      refused = undefined;
      scene.pass(MINUTE_MS);
      await node.turn(2);
      assert.deepEqual(new Set(await statuses()), new Set(['succeeded']));
    } finally {
      await scene.close();
    }
  });
});
