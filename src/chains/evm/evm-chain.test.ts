import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, parseAbi } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { findNetwork } from '../../../test/registry.ts';
import { until } from '../../../test/until.ts';
import type { Item, PayMethod, SignedItem } from '../../domain/item.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS, SANDBOX_TOKENS } from '../../sandbox/genesis.ts';
import { createLocalEvm, type LocalEvm } from '../../sandbox/local-evm.ts';
import { createSandboxEvm } from '../../sandbox/sandbox-evm.ts';
import type { Chain } from '../chain.ts';
import type { ChainProblem } from '../chain-check.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import type { Network } from '../network.ts';
import { COLLECTOR_ADDRESS } from './collector.ts';
import { COLLECTORS, DEPOSIT_CONTRACTS } from './collectors.ts';
import { createEvmChain } from './evm-chain.ts';
import { createLocalSigner } from './local-signer.ts';
import { feesOf, offerOf } from './offer.ts';
import { sampleItem } from './sample-item.fixture.ts';
import type { Transport } from './transport.ts';
import { separatorOf } from './typed-data.ts';

const network = findNetwork('eip155:31337') as Network;
const METHODS = ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const;
const payer = privateKeyToAccount(SANDBOX_KEYS.payer);
const relayer = createLocalSigner(SANDBOX_KEYS.relayer);
const minter = privateKeyToAccount(SANDBOX_KEYS.minter);
const TOKEN_ABI = parseAbi([
  'function blacklist(address)',
  'function unBlacklist(address)',
  'function pause()',
  'function unpause()',
]);

const messagesOf = (problems: readonly ChainProblem[]) => problems.map(({ message }) => message).join();

describe('an EVM chain', () => {
  let evm: LocalEvm;
  let chain: Chain;
  /** Requests that went out, as the methods in them. */
  const requests: string[][] = [];
  let rewrite: (text: string) => string = (text) => text;

  const transport = (evmOf: () => LocalEvm): Transport => ({
    post: async (body) => {
      const parsed = JSON.parse(body) as { method: string } | { method: string }[];
      requests.push((Array.isArray(parsed) ? parsed : [parsed]).map(({ method }) => method));
      return { status: 200, text: rewrite(await evmOf().rpc(body)) };
    },
    close: () => {},
  });

  before(async () => {
    evm = await createSandboxEvm({ mining: 'manual' });
    chain = createEvmChain({ world: systemWorld, network, endpoints: [transport(() => evm)] });
  });

  after(async () => {
    chain.close();
    await evm.close();
  });

  async function signed(item: Item, by: PrivateKeyAccount = payer): Promise<SignedItem> {
    const action = chain.payerSide.walletActions(item, 2n ** 255n).at(-1);
    const signature = await by.signTypedData(JSON.parse(String(action?.params[1])));
    return { item, commitment: chain.payerSide.commitmentOf(item), signature, hasCode: false };
  }

  const itemOf = (method: PayMethod, fields: Partial<Item> = {}) =>
    sampleItem(method, { payer: payer.address, feeAccount: SANDBOX_ACCOUNTS.feeAccount, ...fields });

  /** A transaction of the minter's, in a block of its own. */
  async function govern(functionName: 'blacklist' | 'unBlacklist' | 'pause' | 'unpause', account?: `0x${string}`) {
    const args = account === undefined ? [] : [account];
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName, args } as never);
    await sendFrom(minter, { to: SANDBOX_TOKENS.USDC, data });
  }

  async function sendFrom(account: PrivateKeyAccount, call: { to: string; data?: string; value?: bigint }) {
    const bytes = await account.signTransaction({
      type: 'eip1559',
      chainId: 31337,
      nonce: await chain.sender.usedSlots(account.address),
      gas: 500_000n,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
      ...(call as object),
    } as never);
    assert.equal(await chain.sender.broadcast(bytes), 'accepted');
    await evm.mine();
  }

  async function relay(batch: readonly SignedItem[]): Promise<string> {
    const bid = { slot: await chain.sender.usedSlots(relayer.address), offer: await chain.sender.suggestOffer() };
    const { bytes, hash } = await chain.sender.signBatch(relayer, batch, bid);
    assert.equal(await chain.sender.broadcast(bytes), 'accepted');
    await evm.mine();
    return hash;
  }

  it('reads the coin of our accounts also on a network where nobody pays in coin', async () => {
    const tokens = new Map([...network.assets].filter(([id]) => id !== network.coin.id));
    const other = createEvmChain({
      world: systemWorld,
      network: { ...network, assets: tokens },
      endpoints: [transport(() => evm)],
    });
    const { number } = await other.reader.head();
    const balance = await other.reader.balance(relayer.address, number);
    assert.ok(balance > 0n);
    assert.equal(await other.reader.holding(relayer.address, network.coin.id, number), balance);
    for (const witness of other.reader.witnesses()) {
      assert.equal(await witness.holding(relayer.address, network.coin.id, number), balance);
    }
    other.close();
  });

  it('finds everything on the sandbox as it is known', async () => {
    assert.deepEqual(await chain.check(), {
      payable: [
        'eip155:31337/slip44:60',
        'eip155:31337/erc20:0x4e4707DE5c8431f59Fa45A904854551c692C04f9',
        'eip155:31337/erc20:0x4eBF6fD78A6439A4b0C281D24Ce95d4C536CF40B',
        'eip155:31337/erc20:0x868155088756156b8E18550A345d37ab5BFda311',
      ],
      unchecked: [],
      problems: [],
      disputes: [],
      // The sandbox has the newest releases alone.
      collectors: COLLECTORS.slice(-1),
      depositContracts: DEPOSIT_CONTRACTS.slice(-1),
    });
    assert.deepEqual(
      { ...chain.health(), headNumber: undefined },
      {
        endpoints: 1,
        endpointsUp: 1,
        headNumber: undefined,
        states: [{ name: 'endpoint 1', isUp: true, trouble: undefined }],
      },
    );
  });

  for (const method of METHODS) {
    it(`carries out a batch of ${method} items, and reports each with its commitment`, async () => {
      const batch = await Promise.all(
        [itemOf(method), itemOf(method, { fee: 0n }), itemOf(method)].map((item) => signed(item)),
      );
      for (const { item, signature } of batch) {
        assert.partialDeepStrictEqual(await chain.payerSide.judge(item, signature), { is: 'good', hasCode: false });
      }
      assert.deepEqual(await chain.sender.simulate(batch), [{ is: 'paid' }, { is: 'paid' }, { is: 'paid' }]);

      const hash = await relay(batch);
      const found = await chain.sender.findTransaction(hash);
      assert.ok(found.is === 'mined' && !found.isReverted);
      const events = await chain.reader.events(found.block.number, found.block.number);
      assert.deepEqual(
        events.map((event) => ({ ...event, block: event.block.hash })),
        batch.map(({ item, commitment }, index) => ({
          block: found.block.hash,
          transactionHash: hash,
          logIndex: events[index]?.logIndex,
          collector: COLLECTOR_ADDRESS,
          commitment,
          type: 'paid',
          subject: item.seal,
          payer: payer.address,
          asset: item.asset,
          amount: item.amount,
          fee: item.fee,
          recipient: item.recipient,
          terms: { method, feeAccount: item.feeAccount, deadline: BigInt(item.deadlineS) },
        })),
      );

      const [first] = batch;
      assert.ok(first);
      assert.equal(await chain.reader.isUsed(first.item, first.commitment), true);
      assert.equal(await chain.reader.isUsed(first.item, first.commitment, found.block.number - 1), false);
      assert.deepEqual(await chain.payerSide.judge(first.item, first.signature), { is: 'used' });
      assert.deepEqual(await chain.sender.simulate([first]), [{ is: 'refused', reason: 'used' }]);
      assert.deepEqual(await chain.sender.simulate([first], { atBlock: found.block.number - 1 }), [{ is: 'paid' }]);
    });

    it(`judges signatures of ${method} items`, async () => {
      const item = itemOf(method);
      const { signature } = await signed(item);
      const stranger = privateKeyToAccount(generatePrivateKey());
      const v = Number.parseInt(signature.slice(130), 16);
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
      const highS = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
      const table: readonly (readonly [string, string, string])[] = [
        ['as signed', signature, 'good'],
        ['with v from 0', signature.slice(0, 130) + (v - 27).toString(16).padStart(2, '0'), 'good'],
        ['by another account', (await signed(item, stranger)).signature, 'wrong_signature'],
        ['for another amount', (await signed({ ...item, amount: 1n, fee: 0n })).signature, 'wrong_signature'],
        [
          'for another recipient',
          (await signed({ ...item, recipient: stranger.address })).signature,
          'wrong_signature',
        ],
        ['for another payment', (await signed(itemOf(method))).signature, 'wrong_signature'],
        ['with a high s', `${signature.slice(0, 66)}${highS}${v === 27 ? '1c' : '1b'}`, 'malformed_signature'],
        ['of 64 bytes', signature.slice(0, 130), 'malformed_signature'],
        ['wrapped as ERC-6492', `0x${'00'.repeat(96)}${signature.slice(2)}${'6492'.repeat(16)}`, 'malformed_signature'],
        ['that is none', 'hello', 'malformed_signature'],
      ];
      for (const [name, text, is] of table) assert.equal((await chain.payerSide.judge(item, text)).is, is, name);
    });
  }

  it('judges in one round trip', async () => {
    const item = itemOf('permit2');
    const { signature } = await signed(item);
    requests.length = 0;
    await chain.payerSide.judge(item, signature);
    assert.equal(requests.length, 1);
  });

  it('presents a signature with v from 0 in the way contracts want it', async () => {
    for (const method of METHODS) {
      const good = await signed(itemOf(method));
      const v = (Number.parseInt(good.signature.slice(130), 16) - 27).toString(16).padStart(2, '0');
      const batch = [{ ...good, signature: good.signature.slice(0, 130) + v }];
      assert.deepEqual(await chain.sender.simulate(batch), [{ is: 'paid' }], method);
    }
  });

  it('sees short balances and allowances', async () => {
    const poor = privateKeyToAccount(generatePrivateKey());
    const item = itemOf('eip3009-vrs', { payer: poor.address });
    assert.deepEqual(await chain.payerSide.judge(item, (await signed(item, poor)).signature), { is: 'short_balance' });

    const unapproved = privateKeyToAccount(generatePrivateKey());
    const data = encodeFunctionData({
      abi: parseAbi(['function transfer(address, uint256)']),
      args: [unapproved.address, 100_000_000n],
    });
    await sendFrom(payer, { to: SANDBOX_TOKENS.USDT, data });
    const permit = itemOf('permit2', { payer: unapproved.address });
    assert.deepEqual(await chain.payerSide.judge(permit, (await signed(permit, unapproved)).signature), {
      is: 'short_allowance',
    });
  });

  it('refuses one item of a batch without the others', async () => {
    const good = await signed(itemOf('eip3009-vrs'));
    const other = itemOf('eip3009-vrs');
    const bad = {
      ...(await signed(itemOf('eip3009-vrs'))),
      item: other,
      commitment: chain.payerSide.commitmentOf(other),
    };
    const outcomes = [{ is: 'paid' }, { is: 'refused', reason: 'wrong_signature' }];
    assert.deepEqual(await chain.sender.simulate([good, bad]), outcomes);
    const found = await chain.sender.findTransaction(await relay([good, bad]));
    assert.ok(found.is === 'mined');
    const events = await chain.reader.events(found.block.number, found.block.number);
    assert.deepEqual(
      events.map(({ type, commitment }) => [type, commitment]),
      [
        ['paid', good.commitment],
        ['refused', bad.commitment],
      ],
    );
  });

  it('surveys balances, allowances and refusals of many accounts in one round trip', async () => {
    const nobody = privateKeyToAccount(generatePrivateKey()).address;
    const assets = (await chain.check()).payable.map((asset) => ({ asset, recipient: SANDBOX_ACCOUNTS.merchant }));
    requests.length = 0;
    const { holdings, unreceivable } = await chain.payerSide.survey({
      payers: [payer.address, nobody],
      assets,
      timeoutMs: 2_000,
    });
    assert.equal(requests.length, 1);
    assert.deepEqual(unreceivable, []);
    assert.equal(holdings.length, 8);
    for (const { payer: holder, balance, allowance, asset, isRefused } of holdings) {
      assert.equal(balance > 0n, holder === payer.address, asset);
      assert.equal(allowance > 0n, holder === payer.address && asset.endsWith('311'), asset);
      assert.equal(isRefused, false);
    }
  });

  it('sees who the token refuses, and a token that is paused', async () => {
    const outcast = privateKeyToAccount(generatePrivateKey()).address;
    const asset = itemOf('eip3009-vrs').asset;
    const ask = (from: string, recipient: string) =>
      chain.payerSide.survey({ payers: [from], assets: [{ asset, recipient }], timeoutMs: 2_000 });
    await govern('blacklist', outcast);
    assert.equal((await ask(outcast, SANDBOX_ACCOUNTS.merchant)).holdings[0]?.isRefused, true);
    assert.deepEqual((await ask(payer.address, outcast)).unreceivable, [asset]);
    const toOutcast = await signed(itemOf('eip3009-vrs', { recipient: outcast }));
    assert.deepEqual(await chain.sender.simulate([toOutcast]), [{ is: 'refused', reason: 'recipient_blacklisted' }]);
    await govern('pause');
    assert.deepEqual((await ask(payer.address, SANDBOX_ACCOUNTS.merchant)).unreceivable, [asset]);
    await govern('unpause');
  });

  it('judges an account with code by the very item', async () => {
    const wallet = privateKeyToAccount(generatePrivateKey());
    const mint = encodeFunctionData({
      abi: parseAbi(['function mint(address, uint256)']),
      args: [wallet.address, 100_000_000n],
    });
    await sendFrom(minter, { to: SANDBOX_TOKENS.EURC, data: mint });
    const item = itemOf('eip3009-bytes', { payer: wallet.address });
    const { signature } = await signed(item, wallet);
    assert.partialDeepStrictEqual(await chain.payerSide.judge(item, signature), { is: 'good', hasCode: false });

    // Answers 0x1626ba7e, which means yes, to whatever it is asked; then reverts at whatever it is asked.
    await evm.request({ method: 'hardhat_setCode', params: [wallet.address, '0x631626ba7e60e01b60005260206000f3'] });
    assert.partialDeepStrictEqual(await chain.payerSide.judge(item, '0x1234'), { is: 'good', hasCode: true });
    assert.deepEqual(await chain.payerSide.judge(item, `0x12${'6492'.repeat(16)}`), { is: 'malformed_signature' });
    await evm.request({ method: 'hardhat_setCode', params: [wallet.address, '0x60006000fd'] });
    assert.deepEqual(await chain.payerSide.judge(item, signature), { is: 'wrong_signature' });
  });

  it('derives the outcome of a broadcast from the client’s message', async () => {
    const slot = await chain.sender.usedSlots(relayer.address);
    const offer = await chain.sender.suggestOffer();
    const fees = feesOf(offer);
    const { bytes, hash } = await chain.sender.signNothing(relayer, { slot, offer });
    assert.deepEqual(await chain.sender.findTransaction(hash), { is: 'unknown' });
    assert.equal(await chain.sender.broadcast(bytes), 'accepted');
    assert.deepEqual(await chain.sender.findTransaction(hash), { is: 'pending' });
    assert.equal(await chain.sender.broadcast(bytes), 'known');
    const cheaper = await chain.sender.signNothing(relayer, { slot, offer: offerOf({ ...fees, tip: fees.tip - 1n }) });
    assert.equal(await chain.sender.broadcast(cheaper.bytes), 'underpriced');
    await evm.mine();
    assert.equal((await chain.sender.findTransaction(hash)).is, 'mined');
    const late = await chain.sender.signNothing(relayer, {
      slot,
      offer: offerOf({ max: fees.max * 2n, tip: fees.tip * 2n }),
    });
    assert.equal(await chain.sender.broadcast(late.bytes), 'slot_used');
    const poor = createLocalSigner(generatePrivateKey());
    assert.equal(
      await chain.sender.broadcast((await chain.sender.signNothing(poor, { slot: 0, offer })).bytes),
      'short_balance',
    );
  });

  it('reports payments in native coin', async () => {
    const item = itemOf('native', { amount: 1_000_000n, recipient: privateKeyToAccount(generatePrivateKey()).address });
    const [action] = chain.payerSide.walletActions(item, 0n);
    assert.ok(action);
    const { to, data, value } = action.params[0] as { to: string; data: string; value: string };
    assert.equal(await chain.reader.isUsed(item, chain.payerSide.commitmentOf(item)), false);
    await sendFrom(payer, { to, data, value: BigInt(value) });
    const head = await chain.reader.head();
    const [event] = await chain.reader.events(head.number, head.number);
    assert.ok(event?.type === 'paid');
    assert.equal(event.commitment, chain.payerSide.commitmentOf(item));
    assert.equal(event.asset, 'eip155:31337/slip44:60');
    assert.equal(await chain.reader.balance(item.recipient), item.amount - item.fee);
    assert.equal(await chain.reader.isUsed(item, event.commitment), true);
  });

  it('knows blocks by their height, and where the chain ends', async () => {
    const head = await chain.reader.head();
    assert.deepEqual(await chain.reader.block(head.number), head);
    assert.equal((await chain.reader.block(head.number - 1))?.hash, head.parentHash);
    assert.equal(await chain.reader.block(head.number + 1), undefined);
    await evm.reorg(1);
    const other = await chain.reader.block(head.number);
    assert.notEqual(other?.hash, head.hash);
  });

  it('never takes silence about blocks it has not seen for silence of the Collector', async () => {
    const head = await chain.reader.head();
    await assert.rejects(chain.reader.events(head.number, head.number + 5), ChainUnavailableError);
  });

  it('asks for fewer blocks when a provider refuses so many', async () => {
    const whole = createEvmChain({ world: systemWorld, network, endpoints: [transport(() => evm)] });
    const head = await whole.reader.head();
    const all = await whole.reader.events(0, head.number);
    assert.ok(all.length > 10);
    const stingy: Transport = {
      post: async (body) => {
        const calls = [JSON.parse(body)].flat() as {
          id: number;
          method: string;
          params: { fromBlock: string; toBlock: string }[];
        }[];
        const answers = (JSON.parse(await evm.rpc(JSON.stringify(calls))) as { id: number }[]).map((answer, index) => {
          const [filter] = calls[index]?.params ?? [];
          const isRange = calls[index]?.method === 'eth_getLogs' && filter !== undefined;
          if (!isRange || Number(filter.toBlock) - Number(filter.fromBlock) < 3) return answer;
          return { jsonrpc: '2.0', id: answer.id, error: { code: -32005, message: 'block range is too large' } };
        });
        return { status: 200, text: JSON.stringify(Array.isArray(JSON.parse(body)) ? answers : answers[0]) };
      },
      close: () => {},
    };
    const chunked = createEvmChain({ world: systemWorld, network, endpoints: [stingy] });
    assert.deepEqual(await chunked.reader.events(0, head.number), all);
    whole.close();
    chunked.close();
  });

  it('suggests fees that a block takes, and none beyond reason', async () => {
    const fees = feesOf(await chain.sender.suggestOffer());
    assert.ok(fees.tip > 0n && fees.max > fees.tip);
    rewrite = (text) => text.replaceAll(/"0x[0-9a-f]{6,16}"(?=,|\])/g, `"0x${'f'.repeat(30)}"`);
    const answer = await chain.sender.suggestOffer().finally(() => {
      rewrite = (text) => text;
    });
    const absurd = feesOf(answer);
    assert.ok(absurd.max > fees.max && absurd.max < 10n ** 14n && absurd.tip < 10n ** 13n);
  });

  it('leaves a broadcast open that was answered with an error, and finds it when asked again', async () => {
    let failures = Number.POSITIVE_INFINITY;
    const honest = transport(() => evm);
    const afterwards: Transport = {
      ...honest,
      post: async (body, signal) => {
        const answer = await honest.post(body, signal);
        if (!body.includes('eth_sendRawTransaction') || failures <= 0) return answer;
        failures -= 1;
        return { status: 502, text: '<html>' };
      },
    };
    const broken = createEvmChain({ world: systemWorld, network, endpoints: [afterwards] });
    const bid = async () => ({
      slot: await chain.sender.usedSlots(relayer.address),
      offer: await chain.sender.suggestOffer(),
    });
    const first = await chain.sender.signNothing(relayer, await bid());
    await assert.rejects(broken.sender.broadcast(first.bytes), ChainUnavailableError);
    assert.deepEqual(await chain.sender.findTransaction(first.hash), { is: 'pending' });
    await evm.mine();
    broken.close();

    failures = 1;
    const flaky = createEvmChain({ world: systemWorld, network, endpoints: [afterwards] });
    const second = await chain.sender.signNothing(relayer, await bid());
    assert.equal(await flaky.sender.broadcast(second.bytes), 'known');
    await evm.mine();
    flaky.close();
  });

  it('lets each endpoint testify for itself, also one that is silent, lags behind or is contradicted', async () => {
    const head = await chain.reader.head();
    const other = `0x${'77'.repeat(32)}`;
    let answer = (text: string) => ({ status: 200, text });
    let nowMs = head.timestampS * 1000;
    const world = { ...systemWorld, clock: { nowMs: () => nowMs } };
    const second: Transport = { post: async (body) => answer(await evm.rpc(body)), close: () => {} };
    const both = createEvmChain({ world, network, endpoints: [second, transport(() => evm)] });
    const names = () => both.reader.witnesses().map(({ name }) => name);
    const [first, honest] = both.reader.witnesses();
    assert.ok(first && honest);
    answer = (text) => ({ status: 200, text: text.replaceAll(head.hash, other) });
    assert.deepEqual([(await first.head()).hash, (await honest.head()).hash], [other, head.hash]);
    first.distrust();
    assert.deepEqual(names(), ['endpoint 2', 'endpoint 1']);

    answer = () => ({ status: 503, text: '' });
    await assert.rejects(first.head(), ChainUnavailableError);
    nowMs += 70_000;
    assert.deepEqual([first.silentForMs(), honest.silentForMs()], [70_000, 0]);
    // The chain stands still: by its own word the endpoint does not follow it any more.
    await honest.head();
    nowMs += 1_000;
    assert.equal(honest.silentForMs(), 1_000);
    both.close();
  });

  it('is left out of a survey when it is slow', async () => {
    const silent: Transport = {
      post: (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject, { once: true })),
      close: () => {},
    };
    const slow = createEvmChain({ world: systemWorld, network, endpoints: [silent] });
    const assets = [{ asset: itemOf('native').asset, recipient: SANDBOX_ACCOUNTS.merchant }];
    await assert.rejects(
      slow.payerSide.survey({ payers: [payer.address], assets, timeoutMs: 50 }),
      ChainUnavailableError,
    );
    slow.close();
  });

  describe('whose surveys anybody can cause', () => {
    const assets = [{ asset: itemOf('native').asset, recipient: SANDBOX_ACCOUNTS.merchant }];
    const askAbout = (of: Chain, timeoutMs = 2_000) =>
      of.payerSide.survey({ payers: [payer.address], assets, timeoutMs });
    const isConfirmed = async (by: Chain) => {
      const item = itemOf('eip3009-vrs');
      const { signature } = await signed(item);
      assert.partialDeepStrictEqual(await by.payerSide.judge(item, signature), { is: 'good' });
      assert.equal((await by.reader.head()).number, (await chain.reader.head()).number);
    };

    it('makes no other call wait when an endpoint refuses surveys', async () => {
      const honest = transport(() => evm);
      let isRefusing = true;
      const throttling: Transport = {
        ...honest,
        post: async (body, signal) =>
          isRefusing ? { status: 429, text: '', retryAfterS: 60 } : honest.post(body, signal),
      };
      const flooded = createEvmChain({ world: systemWorld, network, endpoints: [throttling] });
      await assert.rejects(askAbout(flooded, 100), ChainUnavailableError);
      isRefusing = false;
      await isConfirmed(flooded);
      await assert.rejects(askAbout(flooded, 100), ChainUnavailableError, 'the pause holds for surveys');
      flooded.close();
    });

    it('judges the signature of an account with code while an endpoint refuses surveys', async () => {
      const wallet = `0x${'5a'.repeat(20)}`;
      // A contract that confirms every signature (ERC-1271).
      await evm.request({ method: 'hardhat_setCode', params: [wallet, '0x631626ba7e60e01b60005260206000f3'] });
      const honest = transport(() => evm);
      let isRefusing = true;
      const throttling: Transport = {
        ...honest,
        post: async (body, signal) =>
          isRefusing ? { status: 429, text: '', retryAfterS: 60 } : honest.post(body, signal),
      };
      const flooded = createEvmChain({ world: systemWorld, network, endpoints: [throttling] });
      await assert.rejects(askAbout(flooded, 100), ChainUnavailableError);
      isRefusing = false;
      const { item, signature } = await signed(itemOf('eip3009-bytes', { payer: wallet }));
      assert.deepEqual(await flooded.payerSide.judge(item, signature), { is: 'short_balance' });
      await assert.rejects(askAbout(flooded, 100), ChainUnavailableError, 'the pause holds for surveys');
      flooded.close();
    });

    it('makes no other call wait for surveys without an answer', async () => {
      const honest = transport(() => evm);
      const { promise: end, resolve } = Promise.withResolvers<void>();
      let silent = 0;
      let isSilent = true;
      const stuck: Transport = {
        ...honest,
        post: async (body, signal) => {
          if (!isSilent) return honest.post(body, signal);
          silent += 1;
          await end;
          return { status: 503, text: '' };
        },
      };
      const flooded = createEvmChain({ world: systemWorld, network, endpoints: [stuck] });
      // They have the timeout of other calls, because calls with the same timeout share a bounded number of requests. Those that
      // begin at the same moment share one.
      const surveys: Promise<unknown>[] = [];
      for (let sent = 0; sent < 8; sent += 1) {
        surveys.push(askAbout(flooded, 10_000));
        await until('the survey is sent', () => silent > sent);
      }
      isSilent = false;
      await isConfirmed(flooded);
      resolve();
      await Promise.allSettled(surveys);
      flooded.close();
    });

    it('slows surveys down when a provider refuses another call', async () => {
      const honest = transport(() => evm);
      let refusals = 0;
      const throttling: Transport = {
        ...honest,
        post: async (body, signal) => {
          if (refusals === 0) return honest.post(body, signal);
          refusals -= 1;
          return { status: 429, text: '' };
        },
      };
      let nowMs = Date.now();
      const world = { ...systemWorld, clock: { nowMs: () => nowMs } };
      const busy = createEvmChain({ world, network, endpoints: [throttling] });
      for (let times = 0; times < 10; times += 1) await askAbout(busy);
      refusals = 1;
      // The clock stands still, so that neither pool of calls gets its rate back.
      await assert.rejects(busy.reader.head(), ChainUnavailableError);
      assert.equal(refusals, 0);
      await assert.rejects(askAbout(busy, 100), ChainUnavailableError);
      nowMs += 1_000;
      assert.equal((await askAbout(busy)).holdings.length, 1);
      busy.close();
    });
  });

  it('offers nothing where there is no Collector', async () => {
    const empty = await createLocalEvm({ genesis: [], mining: 'manual' });
    const bare = createEvmChain({ world: systemWorld, network, endpoints: [transport(() => empty)] });
    const { payable, problems } = await bare.check();
    assert.deepEqual(payable, []);
    assert.match(
      messagesOf(problems),
      /^The Collector is not deployed at 0x[0-9a-fA-F]{40}, so nothing can be paid on Till Sandbox\.$/,
    );
    bare.close();
    await empty.close();
  });

  it('switches an asset off whose EIP-712 domain is another one', async () => {
    const token = SANDBOX_TOKENS.EURC;
    const separator = separatorOf({ name: 'EURC', version: '2', contract: token }, 31337).toString('hex');
    rewrite = (text) => text.replaceAll(separator, '99'.repeat(32));
    const { payable, problems } = await chain.check().finally(() => {
      rewrite = (text) => text;
    });
    assert.equal(payable.length, 3);
    assert.match(messagesOf(problems), /^EURC .* its EIP-712 domain is not the one of name "EURC" and version "2"\.$/);
  });

  it('switches assets off whose decimals are others', async () => {
    const bare = createEvmChain({ world: systemWorld, network, endpoints: [transport(() => evm)] });
    rewrite = (text) => text.replaceAll(`${'0'.repeat(63)}6"`, `${'0'.repeat(62)}12"`);
    const { payable, problems } = await bare.check().finally(() => {
      rewrite = (text) => text;
    });
    assert.deepEqual(payable, ['eip155:31337/slip44:60']);
    assert.match(
      messagesOf(problems.slice(0, 1)),
      /^USDC \(eip155:31337.*\) is switched off: the contract has 18 decimals and not 6\. Correct \S+\.json:\d+:\d+ tokens\[\d+\]\.decimals\.$/,
    );
    bare.close();
  });
});
