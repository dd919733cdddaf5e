import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import testAgora from '../../../contracts/artifacts/TestAgora.json' with { type: 'json' };
import testTether from '../../../contracts/artifacts/TestTether.json' with { type: 'json' };
import testWrapped from '../../../contracts/artifacts/TestWrapped.json' with { type: 'json' };
import { findNetwork } from '../../../test/registry.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_TOKENS } from '../../sandbox/genesis.ts';
import type { LocalEvm } from '../../sandbox/local-evm.ts';
import { createSandboxEvm } from '../../sandbox/sandbox-evm.ts';
import type { Chain } from '../chain.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import type { Network } from '../network.ts';
import { COLLECTORS, type ContractRelease } from './collectors.ts';
import { createEvmChain } from './evm-chain.ts';

const network = findNetwork('eip155:31337') as Network;
const assetOf = (symbol: keyof typeof SANDBOX_TOKENS) => `eip155:31337/erc20:${SANDBOX_TOKENS[symbol]}`;
const ETH = 'eip155:31337/slip44:60';
const ALL = [ETH, assetOf('USDC'), assetOf('EURC'), assetOf('USDT')];

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

describe('the check of a network', () => {
  let evm: LocalEvm;
  let genuine: string;
  /** Calls that the node does not answer as it should. */
  let isSpoilt: (call: Call) => boolean = () => false;
  const opened: Chain[] = [];

  before(async () => {
    evm = await createSandboxEvm({ mining: 'manual' });
    genuine = String(await evm.request({ method: 'eth_getCode', params: [SANDBOX_TOKENS.USDC, 'latest'] }));
  });
  afterEach(async () => {
    isSpoilt = () => false;
    await setCode(genuine);
    for (const chain of opened.splice(0)) chain.close();
  });
  after(() => evm.close());

  const setCode = (code: string) => evm.request({ method: 'hardhat_setCode', params: [SANDBOX_TOKENS.USDC, code] });

  function open(collectors: readonly ContractRelease[] = COLLECTORS): Chain {
    const post = async (body: string) => {
      const calls = [JSON.parse(body)].flat() as Call[];
      const answers = JSON.parse(await evm.rpc(JSON.stringify(calls))) as object[];
      const spoilt = answers.map((answer, index) => {
        const call = calls[index] as Call;
        if (!isSpoilt(call)) return answer;
        return { jsonrpc: '2.0', id: call.id, error: { code: -32000, message: 'missing trie node' } };
      });
      return { status: 200, text: JSON.stringify(Array.isArray(JSON.parse(body)) ? spoilt : spoilt[0]) };
    };
    const chain = createEvmChain({
      world: systemWorld,
      network,
      collectors,
      endpoints: [{ post, close: () => {} }],
    });
    opened.push(chain);
    return chain;
  }

  /** Contracts at the address of USDC, with the operator's message about each. */
  const WRONG: readonly (readonly [what: string, code: string, problem: RegExp])[] = [
    ['no contract', '0x', /there is no token at its address/],
    ['a contract that reverts at everything', '0x60006000fd', /there is no token at its address/],
    ['a contract that burns all gas', '0xfe', /there is no token at its address/],
    ['a contract that returns nothing', '0x00', /there is no token at its address/],
    ['a contract that returns two words', '0x60406000f3', /there is no token at its address/],
    [
      'a token with other decimals',
      testWrapped.deployedBytecode,
      /has 18 decimals and not 6\. Correct eip155-\d+\.json:\d+:\d+ tokens\[\d+\]\.decimals\.$/,
    ],
    ['a token without EIP-3009', testTether.deployedBytecode, /does not have EIP-3009/],
    [
      'a token with the domain of another one',
      testAgora.deployedBytecode,
      /EIP-712 domain is not the one of name "USD Coin" and version "2"/,
    ],
    [
      // It answers 6 to everything.
      'a contract whose domain separator is none',
      '0x600660005260206000f3',
      /EIP-712 domain is not the one of name "USD Coin"/,
    ],
  ];
  for (const [what, code, problem] of WRONG) {
    it(`finds ${what} in the place of a token, and leaves the other assets payable`, async () => {
      await setCode(code);
      const chain = open();
      const { payable, unchecked, problems } = await chain.check();
      assert.deepEqual([payable, unchecked], [ALL.filter((asset) => asset !== assetOf('USDC')), []]);
      assert.deepEqual(
        problems.map(({ subject }) => subject),
        [assetOf('USDC')],
      );
      assert.match(problems[0]?.message ?? '', problem);
      assert.match(problems[0]?.message ?? '', /^USDC \(eip155:31337\/erc20:0x.*\) is switched off: /);
      assert.equal(chain.health().endpointsUp, 1, 'the endpoint is not to blame');
    });
  }

  it('sets aside an asset that no endpoint answers about, and calls it neither right nor wrong', async () => {
    const address = SANDBOX_TOKENS.EURC.toLowerCase();
    isSpoilt = ({ method, params }) => method === 'eth_call' && (params[0] as { to?: string }).to === address;
    const { payable, unchecked, problems } = await open().check();
    assert.deepEqual([payable, unchecked], [ALL.filter((asset) => asset !== assetOf('EURC')), [assetOf('EURC')]]);
    assert.match(problems[0]?.message ?? '', /^EURC .* could not be checked: /);
  });

  it('rejects when the network cannot be asked at all', async () => {
    isSpoilt = () => true;
    await assert.rejects(open().check(), ChainUnavailableError);
  });

  it('leaves a survey whole when a token stops answering as one: only that token is missing', async () => {
    const chain = open();
    const ask = {
      payers: [SANDBOX_ACCOUNTS.payer],
      assets: ALL.map((asset) => ({ asset, recipient: SANDBOX_ACCOUNTS.merchant })),
      timeoutMs: 5_000,
    };
    for (const code of ['0x', '0x60006000fd', '0xfe', '0x60406000f3']) {
      await setCode(code);
      const { holdings, unreceivable, faults } = await chain.payerSide.survey(ask);
      assert.deepEqual(
        holdings.map(({ asset }) => asset),
        ALL.filter((asset) => asset !== assetOf('USDC')),
      );
      assert.deepEqual([unreceivable, faults.map(({ asset }) => asset)], [[], [assetOf('USDC')]]);
      assert.match(faults[0]?.problem ?? '', /^the contract 0x[0-9a-f]{40} (reverted|returned)/);
    }
    assert.equal(chain.health().endpointsUp, 1);
  });

  describe('by several endpoints', () => {
    /** The answer of an endpoint, given the chain's. Undefined for an error. */
    type Word = (call: Call, truth: unknown) => unknown;
    const honest: Word = (_, truth) => truth;
    const silent: Word = () => undefined;
    const withoutCode: Word = ({ method }, truth) => (method === 'eth_getCode' ? '0x' : truth);
    /** Reports twelve decimals of every token. */
    const twelve: Word = ({ method, params: [call] }, truth) =>
      method === 'eth_call' && (call as { data?: string }).data === '0x313ce567' ? `0x${'c'.padStart(64, '0')}` : truth;

    function checkWith(...words: Word[]) {
      const says = [...words];
      const transport = (index: number) => ({
        post: async (body: string) => {
          const calls = [JSON.parse(body)].flat() as Call[];
          const truths = [JSON.parse(await evm.rpc(JSON.stringify(calls)))].flat() as { result?: unknown }[];
          const answers = calls.map((call, at) => {
            const result = says[index]?.(call, truths[at]?.result);
            if (truths[at]?.result === undefined && result === undefined && says[index] !== silent) return truths[at];
            const error = { code: -32_000, message: 'missing trie node' };
            return { jsonrpc: '2.0', id: call.id, ...(result === undefined ? { error } : { result }) };
          });
          return { status: 200, text: JSON.stringify(Array.isArray(JSON.parse(body)) ? answers : answers[0]) };
        },
        close: () => {},
      });
      const chain = createEvmChain({ world: systemWorld, network, endpoints: words.map((_, at) => transport(at)) });
      opened.push(chain);
      return { chain, say: (...other: Word[]) => void says.splice(0, says.length, ...other) };
    }
    const current = (COLLECTORS.at(-1) as ContractRelease).address;
    const TOKENS = ALL.filter((asset) => asset !== ETH);

    it('keeps contracts and assets while one of two denies them, and says who says what', async () => {
      const { chain, say } = checkWith(honest, honest);
      assert.deepEqual((await chain.check()).payable, ALL);
      const contract = chain.payerSide.depositContract();
      assert.ok(contract);
      say(withoutCode, honest);
      const bare = await chain.check();
      assert.deepEqual(
        [bare.payable.includes(ETH), bare.problems.map(({ subject }) => subject)],
        [true, [assetOf('USDT')]],
      );
      assert.deepEqual([chain.payerSide.collector(), chain.payerSide.depositContract()], [current, contract]);
      assert.match(
        bare.disputes.join(),
        new RegExp(`contradict each other about the code at ${current}: endpoint 1: no code; endpoint 2: 0x`),
      );
      say(honest, twelve);
      const { payable, unchecked, problems, disputes } = await chain.check();
      assert.deepEqual([payable, unchecked, disputes.length], [[ETH], TOKENS, 3]);
      assert.match(
        problems[0]?.message ?? '',
        /could not be checked: endpoint 1: as known; endpoint 2: the contract has 12/,
      );
      say(honest, honest);
      assert.deepEqual((await chain.check()).disputes, []);
    });

    it('offers nothing where one of two makes contracts up', async () => {
      const { chain, say } = checkWith(withoutCode, withoutCode);
      assert.deepEqual([(await chain.check()).payable, chain.payerSide.collector()], [[], undefined]);
      for (const words of [
        [honest, withoutCode],
        [honest, silent],
      ] as const) {
        say(...words);
        assert.deepEqual([(await chain.check()).payable, chain.payerSide.collector()], [[], undefined]);
      }
      const { chain: fresh } = checkWith(honest, withoutCode);
      const { payable, unchecked, problems } = await fresh.check();
      assert.deepEqual([payable, unchecked, fresh.payerSide.collector()], [[], ALL, undefined]);
      assert.match(problems[0]?.message ?? '', /^It is unknown whether the Collector is deployed at /);
    });

    it('believes two of three, and asks the third one last from then on', async () => {
      const { chain } = checkWith(withoutCode, honest, honest);
      const { payable, disputes } = await chain.check();
      assert.deepEqual([payable, disputes], [ALL, []]);
      assert.equal(chain.reader.witnesses().at(-1)?.name, 'endpoint 1');
    });

    it('starts while one of two is silent, and believes the other one nothing bad', async () => {
      const { chain, say } = checkWith(silent, honest);
      assert.deepEqual((await chain.check()).payable, ALL);
      say(silent, withoutCode);
      assert.ok((await chain.check()).payable.includes(ETH));
      say(silent, twelve);
      const { payable, unchecked } = await chain.check();
      assert.deepEqual([payable, unchecked], [[ETH], TOKENS]);
    });
  });

  describe('for the Collector', () => {
    const current = COLLECTORS.at(-1) as ContractRelease;
    const missing = { ...current, address: '0x00000000000000000000000000000000000C0113', since: '2026-12-01' };

    it('signs for the older one while the newest is not deployed, and says so', async () => {
      const chain = open([current, missing]);
      const { payable, problems } = await chain.check();
      assert.deepEqual(payable, ALL);
      assert.equal(chain.payerSide.collector(), current.address);
      assert.deepEqual(problems, [
        {
          subject: 'eip155:31337',
          message: `The Collector is not deployed at ${missing.address}, so payments on Till Sandbox are signed for the older one at ${current.address}.`,
        },
      ]);
    });

    it('needs no older one where there never was one', async () => {
      const chain = open([{ ...missing, since: '2026-01-01' }, current]);
      assert.deepEqual((await chain.check()).problems, []);
      assert.equal(chain.payerSide.collector(), current.address);
    });

    it('takes no other contract for it', async () => {
      const chain = open([{ ...current, codeHash: `0x${'11'.repeat(32)}` }]);
      const { payable, problems } = await chain.check();
      assert.deepEqual([payable, chain.payerSide.collector()], [[], undefined]);
      assert.match(problems[0]?.message ?? '', /is not the Collector: its code is another one\.$/);
    });
  });
});
