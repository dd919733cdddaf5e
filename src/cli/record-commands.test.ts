import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { encodeAbiParameters, encodeFunctionData, getAddress, type Hex, parseAbi } from 'viem';
import testAgora from '../../contracts/artifacts/TestAgora.json' with { type: 'json' };
import testPaxos from '../../contracts/artifacts/TestPaxos.json' with { type: 'json' };
import testWrapped from '../../contracts/artifacts/TestWrapped.json' with { type: 'json' };
import { PERMIT2_ADDRESS } from '../chains/evm/collector.ts';
import { COLLECTORS, DEPOSIT_CONTRACTS } from '../chains/evm/collectors.ts';
import { readRegistry } from '../chains/registry.ts';
import { systemWorld } from '../runtime/system-world.ts';
import type { World } from '../runtime/world.ts';
import {
  type PlacedToken,
  placeDollar,
  placeTether,
  SANDBOX_ACCOUNTS,
  sandboxFirstBlock,
  sandboxGenesis,
} from '../sandbox/genesis.ts';
import { createLocalEvm, type LocalEvm } from '../sandbox/local-evm.ts';
import { runTill } from './till.ts';

const CHAIN = 777_777;
const NETWORK = `eip155:${CHAIN}`;
const DOLLAR = getAddress('0x00000000000000000000000000000000000d0001');
const PLAIN = getAddress('0x00000000000000000000000000000000000d0002');
const AGORA = getAddress('0x00000000000000000000000000000000000d0003');
const WRAPPED = getAddress('0x00000000000000000000000000000000000d0004');
const OTHER_SYMBOL = getAddress('0x00000000000000000000000000000000000d0005');
const PAXOS = getAddress('0x00000000000000000000000000000000000d0006');
const BRIDGED = getAddress('0x00000000000000000000000000000000000d0007');
const EMPTY = getAddress('0x00000000000000000000000000000000000d00ff');
const BLOCK_S = 2;

const NAMED = parseAbi(['function initialize(string name, address admin)']);

function placeNamed({ deployedBytecode }: { deployedBytecode: string }, address: Hex, name: string): PlacedToken {
  const data = encodeFunctionData({ abi: NAMED, args: [name, SANDBOX_ACCOUNTS.minter] });
  return { predeploy: { address, nonce: 1n, code: deployedBytecode as Hex }, initialize: { to: address, data } };
}

const TOKENS: readonly PlacedToken[] = [
  placeNamed(testAgora, AGORA, 'Own Agora'),
  placeNamed(testPaxos, PAXOS, 'Own Paxos'),
  placeDollar(DOLLAR, { name: 'Own Dollar', symbol: 'USDO' }),
  placeTether(PLAIN),
  placeDollar(BRIDGED, { name: 'USD Coin', symbol: 'USDB' }),
  placeDollar(OTHER_SYMBOL, { name: 'Euro of evil\u202Eoruer', symbol: 'US DO' }),
];

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}
type Spoil = (call: Call) => object | undefined;

describe('commands that write the files of networks', () => {
  let evm: LocalEvm;
  let server: Server;
  let url: string;
  let folder: string;
  /** The endpoint's answer in place of the chain's. */
  let spoil: Spoil = () => undefined;

  let isSilent = false;
  let status = 200;

  before(async () => {
    evm = await createLocalEvm({
      chainId: CHAIN,
      mining: 'manual',
      genesis: [
        ...sandboxGenesis([...TOKENS]),
        { address: WRAPPED, nonce: 1n, code: testWrapped.deployedBytecode as `0x${string}` },
      ],
      firstBlock: await sandboxFirstBlock(CHAIN, [...TOKENS]),
    });
    const head = (await evm.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })) as {
      timestamp: string;
    };
    for (let block = 1; block <= 20; block += 1) {
      await evm.request({ method: 'evm_mine', params: [Number(head.timestamp) + block * BLOCK_S] });
    }
    server = createServer(async (request, response) => {
      const body: unknown = JSON.parse(await text(request));
      const answers = await Promise.all([body].flat().map((call) => answer(call as Call)));
      if (isSilent) return;
      response.statusCode = status;
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/secret-of-the-operator`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await evm.close();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'till-records-'));
  });
  afterEach(() => {
    spoil = () => undefined;
    isSilent = false;
    status = 200;
    rmSync(folder, { recursive: true });
  });

  async function answer(call: Call): Promise<object> {
    const spoilt = spoil(call);
    if (spoilt !== undefined) return { jsonrpc: '2.0', id: call.id, ...spoilt };
    return JSON.parse(await evm.rpc(JSON.stringify(call)));
  }

  const add = (more: readonly string[], env: Record<string, string> = { NETWORKS_DIR: folder }) =>
    till(['networks', 'add', '--rpc', url, '--test', ...more], env);
  const addToken = (more: readonly string[]) =>
    till(['tokens', 'add', '--network', NETWORK, '--rpc', url, ...more], { NETWORKS_DIR: folder });
  const file = () => join(folder, 'eip155-777777.json');
  const record = () => JSON.parse(readFileSync(file(), 'utf8'));

  it('write a file that the gateway loads, with all that the chain reports', async () => {
    const tokens = ['--token', `${DOLLAR}=USD`, '--token', PLAIN, '--token', WRAPPED];
    const { exitCode, stdout, stderr } = await add(['--name', 'Own Chain', '--coin', 'OWN', ...tokens]);
    assert.deepEqual([exitCode, stderr], [0, '']);
    const { finality, ...rest } = record();
    assert.deepEqual(rest, {
      id: NETWORK,
      name: 'Own Chain',
      mode: 'test',
      coin: { symbol: 'OWN', name: 'OWN', decimals: 18, slip44: 60 },
      blockTimeMs: 2_000,
      tokens: [
        {
          address: DOLLAR,
          symbol: 'USDO',
          name: 'Own Dollar',
          decimals: 6,
          peg: 'USD',
          pay: 'eip3009-bytes',
          domain: { name: 'Own Dollar', version: '2' },
          blacklist: 'isBlacklisted',
        },
        {
          address: PLAIN,
          symbol: 'USDT',
          name: 'Tether USD',
          decimals: 6,
          quoteDecimals: 6,
          pay: 'permit2',
          blacklist: 'isBlackListed',
        },
        {
          address: record().tokens[2].address,
          symbol: record().tokens[2].symbol,
          name: record().tokens[2].name,
          decimals: 18,
          quoteDecimals: 6,
          pay: 'permit2',
        },
      ],
    });
    assert.deepEqual(
      [finality.depth, finality.tags, finality.tiers],
      [15, ['safe', 'finalized'], [{ from: 10_000, depth: 45 }]],
    );
    assert.match(finality.reason, /cautious default .* measured block time of 2000 ms/);
    assert.match(stdout, /A block takes 2000 ms, measured over \d+ blocks/);
    assert.match(
      stdout,
      /USDO: has EIP-3009, with signatures as bytes\..* "Own Dollar" and version "2", found by DOMAIN_SEP/,
    );
    assert.match(stdout, /USDO: payers pay with one signature and without gas; contract accounts can, too\./);
    assert.match(stdout, /USDT: has no EIP-3009\.\n/);
    assert.match(stdout, /USDT: payers pay with one signature after a one-time approval/);
    assert.ok(stdout.includes(`The Collector is at ${COLLECTORS.at(-1)?.address}.`), stdout);
    assert.doesNotMatch(stdout + stderr, /127\.0\.0\.1|secret/);
    assert.equal(statSync(file()).mode & 0o777, 0o644);
    assert.deepEqual(readdirSync(folder), ['eip155-777777.json'], 'no draft is left');
    const read = readRegistry(folder);
    assert.ok('registry' in read, 'problems' in read ? read.problems.join('\n') : '');
    assert.equal(read.registry.network(NETWORK)?.name, 'Own Chain');
  });

  it('print the file alone, and what was found beside it, with --dry-run and without a folder', async () => {
    const { exitCode, stdout, stderr } = await add(['--dry-run'], {});
    assert.equal(exitCode, 0, stderr);
    const { tokens, name, coin } = JSON.parse(stdout);
    assert.deepEqual([tokens, name, coin.symbol], [[], 'Chain 777777', 'ETH']);
    assert.match(stderr, /^eip155:777777 answers: its head is block 21\./);
    assert.match(stderr, /Not found out: the name of the coin/);
    const json = JSON.parse((await add(['--dry-run', '--json'], {})).stdout);
    assert.deepEqual([json.file, json.record.id], [null, NETWORK]);
  });

  it('find the domain by EIP-5267, and the form of signatures that a token takes', async () => {
    // The test tokens have no symbol(), and the early tokens have theirs in 32 bytes.
    spoil = ({ method, params }) => {
      const { to, data } = (params[0] ?? {}) as { to?: string; data?: string };
      if (method !== 'eth_call' || data !== '0x95d89b41') return undefined;
      if (isOf(to, AGORA)) return { result: encodeAbiParameters([{ type: 'string' }], ['OWNA']) };
      return isOf(to, PAXOS) ? { result: `0x${Buffer.from('OWNP').toString('hex').padEnd(64, '0')}` } : undefined;
    };
    const { exitCode, stdout, stderr } = await add(['--token', `${AGORA}=USD`, '--token', `${PAXOS}=USD`]);
    assert.equal(exitCode, 0, stderr);
    const [agora, paxos] = record().tokens;
    assert.deepEqual(
      [agora.symbol, agora.pay, agora.domain, agora.blacklist],
      ['OWNA', 'eip3009-bytes', { name: 'Own Agora', version: '1' }, 'isAccountFrozen'],
    );
    assert.deepEqual(
      [paxos.symbol, paxos.pay, paxos.domain, paxos.blacklist],
      ['OWNP', 'eip3009-vrs', { name: 'Own Paxos', version: '1' }, 'isFrozen'],
    );
    assert.match(stdout, /OWNA: has EIP-3009, .* found by EIP-5267\./);
    assert.match(stdout, /OWNP: payers pay with one signature and without gas; contract accounts cannot\./);
  });

  it('refuse to overwrite a file, and to write without a folder', async () => {
    const first = await add([]);
    assert.equal(first.exitCode, 0, first.stderr);
    const again = await add([]);
    assert.match(
      again.stderr,
      /^invalid_state: Till knows eip155:777777 already, as Chain 777777, from .*json\. `till tokens add/,
    );
    writeFileSync(file(), readFileSync(file(), 'utf8').replaceAll('777777', '777778'));
    const other = await add([]);
    assert.equal(other.exitCode, 1);
    assert.match(other.stderr, /^invalid_state: .*eip155-777777\.json exists, and is not overwritten/);
    assert.match(readFileSync(file(), 'utf8'), /777778/);
    assert.match((await add([], {})).stderr, /^invalid_state: NETWORKS_DIR is not set\./);
    assert.deepEqual(readdirSync(folder), ['eip155-777777.json']);
  });

  it('ask for the mode, and refuse wrong addresses and currencies', async () => {
    for (const mode of [[], ['--test', '--live']]) {
      const { exitCode, stderr } = await till(['networks', 'add', '--rpc', url, ...mode], { NETWORKS_DIR: folder });
      assert.equal(exitCode, 2);
      assert.match(stderr, /give one of --test and --live/);
    }
    const wrong = await add([
      '--token',
      '0x12',
      '--token',
      `${PLAIN}=dollar`,
      '--token',
      COLLECTORS[0]?.address.replace('C', 'c') ?? '',
    ]);
    assert.match(
      wrong.stderr,
      /--token .*40 hexadecimal digits[\s\S]*--token must name an ISO 4217 currency[\s\S]*checksum/,
    );
  });

  it('refuse an address without code, a contract that is no token, and a symbol that forges', async () => {
    const none = await add(['--token', EMPTY]);
    assert.match(
      none.stderr,
      /^invalid_params: There is no contract at 0x\w{40} on eip155:777777\. Check the address\. Nothing was written\./,
    );
    const noToken = await add(['--token', PERMIT2_ADDRESS]);
    assert.match(noToken.stderr, /is no token: it has no decimals\(\)/);
    const forged = await add(['--token', OTHER_SYMBOL]);
    assert.match(forged.stderr, /has the symbol "US DO", which payers may misread/);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('refuse a chain that Till knows, and name its file', async () => {
    spoil = ({ method }) => (method === 'eth_chainId' ? { result: '0x2105' } : undefined);
    const { exitCode, stderr } = await add([]);
    assert.equal(exitCode, 1);
    assert.match(stderr, /^invalid_state: Till knows eip155:8453 already, as Base, from .*eip155-8453\.json/);
  });

  it('say why an endpoint is of no use, and never its URL', async () => {
    for (const [rpc, expected] of [
      ['http://127.0.0.1:1/v2/secret-of-the-operator', /cannot be reached \(ECONNREFUSED\)/],
      ['ftp://127.0.0.1/secret', /^invalid_params: --rpc must be an http or https URL/],
    ] as const) {
      const { exitCode, stdout, stderr } = await till(['networks', 'add', '--rpc', rpc, '--test'], {
        NETWORKS_DIR: folder,
      });
      assert.equal(exitCode, 1);
      assert.match(stderr, expected);
      assert.doesNotMatch(stdout + stderr, /127\.0\.0\.1|secret/);
    }
    const quickly = { ...systemWorld, timers: { ...systemWorld.timers, after: soonAfter } };
    isSilent = true;
    const silent = await till(['networks', 'add', '--rpc', url, '--test'], { NETWORKS_DIR: folder }, quickly);
    assert.match(silent.stderr, /^invalid_state: the endpoint of --rpc: no answer within 10 s\. Nothing was written\./);
    isSilent = false;
    status = 401;
    assert.match((await add([])).stderr, /answers with HTTP status 401\. Is the key in its URL right\?/);
    status = 200;
    spoil = () => ({ error: { code: -32601, message: 'the method does not exist' } });
    assert.match(
      (await add([])).stderr,
      /does not answer eth_chainId, so it is no node of an EVM chain\. Nothing was written/,
    );
  });

  it('distinguish a tag that is not known from one without a block, and what is missing from what is unknown', async () => {
    spoil = ({ method, params }) => {
      if (method === 'eth_getBlockByNumber' && params[0] === 'safe')
        return { error: { code: -32602, message: 'invalid block' } };
      if (method === 'eth_getBlockByNumber' && params[0] === 'finalized') return { result: null };
      if (
        method === 'eth_getCode' &&
        [COLLECTORS, DEPOSIT_CONTRACTS].flat().some(({ address }) => isOf(params[0], address))
      ) {
        return { result: '0x' };
      }
      if (method === 'eth_getCode' && isOf(params[0], PERMIT2_ADDRESS)) return { result: '0x' };
      // `authorizationState(address,bytes32)`
      const { data = '' } = (params[0] ?? {}) as { data?: string };
      if (method === 'eth_call' && data.startsWith('0xe94a0102'))
        return { error: { code: -32000, message: 'missing trie node' } };
      return undefined;
    };
    const { exitCode, stdout, stderr } = await add(['--token', DOLLAR]);
    assert.equal(exitCode, 0, stderr);
    assert.match(stdout, /The node does not know the tag safe\./);
    assert.match(
      stdout,
      /Not found out: whether the tag finalized is known, because the node has no such block at present/,
    );
    assert.match(
      stdout,
      /The Collector is not deployed, so nothing can be paid yet: `till collector deploy --network eip155:777777` deploys it\./,
    );
    assert.match(stdout, /Permit2 is not deployed/);
    assert.match(stdout, /USDO: not found out: whether payers can sign by EIP-3009, because eip155:777777/);
    assert.match(stdout, /USDO: payers cannot pay with it by this file\./);
    assert.deepEqual([record().finality.tags, record().tokens[0].pay], [undefined, undefined]);
  });

  /** In both forms. */
  const isReceive = (data: string) => /^0x(88b7ab63|ef55bec6)/.test(data);
  const REVERTED = { error: { code: 3, message: 'execution reverted', data: '0x' } };
  for (const [what, answered] of [
    ['refuses the right signature, because it is paused', () => REVERTED],
    ['accepts every signature, because a fallback function answers', () => ({ result: '0x' })],
  ] as const) {
    it(`offer no authorization where the token ${what}`, async () => {
      spoil = (call) => (isReceive(dataOf(call)) ? answered() : undefined);
      const { stdout, stderr } = await add(['--token', DOLLAR]);
      assert.match(
        stdout,
        /USDO: not found out: .* no form of receiveWithAuthorization\(\) accepted a signature/,
        stderr,
      );
      assert.deepEqual([record().tokens[0].pay, record().tokens[0].domain], ['permit2', undefined]);
    });
  }

  it('offer no authorization where no usual name and version are those of the domain', async () => {
    spoil = (call) => (dataOf(call) === '0x3644e515' ? { result: `0x${'12'.repeat(32)}` } : undefined);
    const { stdout, stderr } = await add(['--token', DOLLAR]);
    assert.match(stdout, /USDO: not found out: .* no usual name and version give its DOMAIN_SEPARATOR\(\)/, stderr);
    assert.equal(record().tokens[0].pay, 'permit2');
  });

  it('try the domains of known tokens, which bridged ones often share', async () => {
    const name = encodeAbiParameters([{ type: 'string' }], ['Bridged Dollar']);
    spoil = (call) => (dataOf(call) === '0x06fdde03' ? { result: name } : undefined);
    const { stderr } = await add(['--token', BRIDGED]);
    const [token] = record().tokens;
    assert.deepEqual(
      [token?.name, token?.pay, token?.domain],
      ['Bridged Dollar', 'eip3009-bytes', { name: 'USD Coin', version: '2' }],
      stderr,
    );
  });

  it('find no blacklist in a contract that answers everything', async () => {
    // A word of zero for every function that takes an account alone, which would be the answer "not blacklisted".
    const isAboutAccount = (data: string) => data.length === 74 && data.endsWith('11'.repeat(20));
    spoil = (call) => (isAboutAccount(dataOf(call)) ? { result: `0x${'00'.repeat(32)}` } : undefined);
    const { stderr } = await add(['--token', DOLLAR]);
    assert.equal(record().tokens[0].blacklist, undefined, stderr);
  });

  it('write no finality where too few blocks show the block time', async () => {
    const early = await evm.request({ method: 'eth_getBlockByNumber', params: ['0x4', false] });
    spoil = ({ method, params }) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? { result: early } : undefined;
    const { stdout, stderr } = await add([]);
    assert.match(stdout, /Not found out: the time of a block, .* add blockTimeMs and finality\./, stderr);
    assert.deepEqual([record().blockTimeMs, record().finality], [undefined, undefined]);
  });

  it('add a token to a file, and keep everything else of it', async () => {
    assert.equal((await add(['--token', `${DOLLAR}=USD`])).exitCode, 0);
    const before = { ...record(), explorer: 'https://explorer.example/tx/' };
    writeFileSync(file(), JSON.stringify(before));
    chmodSync(file(), 0o600);
    const { exitCode, stdout, stderr } = await addToken(['--token', `${PLAIN}=USD`]);
    assert.deepEqual([exitCode, stderr], [0, '']);
    assert.match(stdout, /USDT: is taken as pegged to USD, because you say so\./);
    const { tokens, ...rest } = record();
    assert.deepEqual({ ...rest, tokens: tokens.slice(0, 1) }, before);
    assert.equal(statSync(file()).mode & 0o777, 0o600, 'the rights of the file stay');
    assert.deepEqual([tokens[1].symbol, tokens[1].pay, tokens[1].peg], ['USDT', 'permit2', 'USD']);
    const twice = await addToken(['--token', PLAIN]);
    assert.match(
      twice.stderr,
      /^invalid_params: The file would be refused, and is not written: tokens\[2\]\.address is that of tokens\[1\]/,
    );
    assert.equal(record().tokens.length, 2);
    assert.deepEqual(readdirSync(folder), ['eip155-777777.json']);
  });

  describe('the check of a file against its chain', () => {
    // biome-ignore lint/suspicious/noExplicitAny: a file is changed as people change it, without types.
    type File = any;
    interface CheckCase {
      readonly name: string;
      readonly change?: (file: File) => void;
      readonly spoil?: Spoil;
      readonly isProblem: boolean;
      readonly says: RegExp;
    }
    const code =
      (address: string, answer: string): Spoil =>
      ({ method, params }) =>
        method === 'eth_getCode' && isOf(params[0], address) ? { result: answer } : undefined;
    const CHECKS: readonly CheckCase[] = [
      {
        name: 'another name and symbol',
        change: ({ tokens }) => Object.assign(tokens[0], { symbol: 'USDX', name: 'Dollar' }),
        isProblem: false,
        says: /eip155-777777\.json:\d+:\d+ tokens\[0\]\.symbol is USDX, with the name "Dollar"\. The contract calls itself "USDO", with the name "Own Dollar"\. Payers see the words of the file/,
      },
      {
        name: 'other decimals of a token that is a price alone',
        change: ({ tokens }) => {
          delete tokens[1].pay;
          tokens[1].decimals = 8;
        },
        isProblem: true,
        says: /tokens\[1\]\.decimals is 8, and the contract has 6\. Correct it before payments name the token/,
      },
      {
        name: 'other decimals of a payable token',
        change: ({ tokens }) => Object.assign(tokens[1], { decimals: 8 }),
        isProblem: true,
        says: /USDT \(\S+\) is switched off: the contract has 6 decimals and not 8\. Correct eip155-777777\.json:\d+:\d+ tokens\[1\]\.decimals\./,
      },
      {
        name: 'another EIP-712 domain',
        change: ({ tokens }) => Object.assign(tokens[0], { domain: { name: 'Own Dollar', version: '7' } }),
        isProblem: true,
        says: /tokens\[0\]\.domain is {"name":"Own Dollar","version":"7"}, and the contract of USDO has {"name":"Own Dollar","version":"2"}\. Signatures of payers fail: copy the domain/,
      },
      {
        name: 'EIP-3009 that is not used',
        change: ({ tokens }) => {
          tokens[0].pay = 'permit2';
          delete tokens[0].domain;
        },
        isProblem: false,
        says: /tokens\[0\]\.pay is permit2, and USDO has EIP-3009\. Payers need no approval with "pay": "eip3009-bytes", with the domain {"name":"Own Dollar","version":"2"}\./,
      },
      {
        name: 'signatures as bytes that are not used',
        change: ({ tokens }) => Object.assign(tokens[0], { pay: 'eip3009-vrs' }),
        isProblem: false,
        says: /tokens\[0\]\.pay is eip3009-vrs, and USDO takes signatures as bytes, too\. Contract accounts can pay/,
      },
      {
        name: 'EIP-3009 that is not there',
        change: ({ tokens }) =>
          Object.assign(tokens[1], { pay: 'eip3009-vrs', domain: { name: 'Tether USD', version: '1' } }),
        isProblem: true,
        says: /tokens\[1\]\.pay is eip3009-vrs, and the contract of USDT took no such signature for a transfer of nothing\. Payers can pay with "pay": "permit2", without domain\./,
      },
      {
        name: 'a blacklist that the file does not have',
        change: ({ tokens }) => {
          delete tokens[0].blacklist;
        },
        isProblem: false,
        says: /USDO can blacklist accounts: isBlacklisted\(\)\. Write "blacklist": "isBlacklisted"/,
      },
      {
        name: 'a blacklist that the contract does not have',
        change: ({ tokens }) => Object.assign(tokens[0], { blacklist: 'isFrozen' }),
        isProblem: false,
        says: /USDO can blacklist accounts: isBlacklisted\(\)/,
      },
      {
        name: 'another block time',
        change: (file) => Object.assign(file, { blockTimeMs: 500 }),
        isProblem: false,
        says: /blockTimeMs is 500, and a block takes 2000 ms, measured over \d+ blocks\. Correct it, and look at finality\.depth again/,
      },
      {
        name: 'a tag that the file does not have',
        change: ({ finality }) => Object.assign(finality, { tags: ['safe'] }),
        isProblem: false,
        says: /The node knows the tag finalized, and \S+ finality does not have it\. Add it to tags/,
      },
      {
        name: 'a tag that the node does not know',
        spoil: ({ method, params }) =>
          method === 'eth_getBlockByNumber' && params[0] === 'safe'
            ? { error: { code: -32_602, message: 'unknown tag' } }
            : undefined,
        isProblem: true,
        says: /finality has the tag safe, and the node does not know it\. Use endpoints that do, or remove the tag/,
      },
      {
        name: 'no contract in the place of a token',
        change: ({ tokens }) => Object.assign(tokens[1], { address: EMPTY }),
        isProblem: true,
        says: /USDT: There is no contract at 0x\S+ on eip155:777777\. Check the address\./,
      },
      {
        name: 'no Permit2',
        spoil: code(PERMIT2_ADDRESS, '0x'),
        isProblem: true,
        says: /Permit2 is missing, and USDT need it\. Deploy it at its usual address, or leave pay out/,
      },
      {
        name: 'no contract of deposit addresses',
        spoil: code(DEPOSIT_CONTRACTS.at(-1)?.address ?? '', '0x'),
        isProblem: false,
        says: /The contract of deposit addresses is missing, so payers cannot send from exchanges: `till collector deploy --network eip155:777777` deploys it\./,
      },
      {
        name: 'no Collector',
        spoil: code(COLLECTORS.at(-1)?.address ?? '', '0x'),
        isProblem: true,
        says: /The Collector is missing: `till collector deploy --network eip155:777777` deploys it\./,
      },
    ];

    async function check() {
      const env = {
        NETWORKS_DIR: folder,
        RPC_URLS: `${NETWORK}=${url}`,
        RELAYER_KEYS: `0x${'1a'.repeat(32)}`,
        FEE_ACCOUNT: PLAIN,
        INTERMEDIATE_ACCOUNT: PLAIN,
      };
      const said = await till(['networks', 'check', '--json'], env);
      const [report] = JSON.parse(said.stdout) as { problems: string[]; remarks: string[] }[];
      return { ...said, problems: report?.problems ?? [], remarks: report?.remarks ?? [] };
    }

    it('finds nothing in the file that `networks add` wrote', async () => {
      await add(['--token', `${DOLLAR}=USD`, '--token', `${PLAIN}=USD`]);
      const { exitCode, problems, remarks } = await check();
      assert.deepEqual([exitCode, problems, remarks], [0, [], []]);
    });

    for (const { name, change, spoil: spoilt, isProblem, says } of CHECKS) {
      it(`explains ${name}`, async () => {
        await add(['--token', `${DOLLAR}=USD`, '--token', `${PLAIN}=USD`]);
        const changed = record();
        change?.(changed);
        writeFileSync(file(), JSON.stringify(changed));
        if (spoilt !== undefined) spoil = spoilt;
        const { exitCode, stdout, problems, remarks } = await check();
        assert.match((isProblem ? problems : remarks).join('\n'), says, stdout);
        assert.equal(exitCode, problems.length > 0 ? 1 : 0);
        assert.equal(exitCode === 1, isProblem, stdout);
        assert.doesNotMatch(stdout, /secret-of-the-operator/);
      });
    }
  });

  it('add no token to a built-in network, an unknown one, another chain, or while another command writes', async () => {
    const to = (network: string) =>
      till(['tokens', 'add', '--network', network, '--rpc', url, '--token', PLAIN], { NETWORKS_DIR: folder });
    assert.match((await to('eip155:8453')).stderr, /^invalid_state: eip155:8453 is a built-in network\. Copy /);
    assert.match((await to(NETWORK)).stderr, /^invalid_params: Till does not know eip155:777777/);
    assert.equal((await add([])).exitCode, 0);
    writeFileSync(join(folder, 'other.json'), readFileSync(file(), 'utf8').replaceAll('777777', '777778'));
    assert.match(
      (await to('eip155:777778')).stderr,
      /^invalid_params: The endpoint is on eip155:777777 and not on eip155:777778/,
    );
    writeFileSync(`${file()}.draft`, '');
    assert.match(
      (await to(NETWORK)).stderr,
      /^invalid_state: Another command writes that file at this moment\. .* remove .*\.draft\./,
    );
    assert.ok(existsSync(`${file()}.draft`), 'the lock of the other command stays');
    assert.deepEqual(record().tokens, []);
  });
});

function dataOf({ method, params }: Call): string {
  return method === 'eth_call' ? ((params[0] as { data?: string }).data ?? '') : '';
}

function isOf(value: unknown, address: string): boolean {
  return String(value).toLowerCase() === address.toLowerCase();
}

/** Timeouts of seconds end at once. */
function soonAfter(delayMs: number, run: () => void): () => void {
  return systemWorld.timers.after(Math.min(delayMs, 20), run);
}

async function till(argv: readonly string[], env: Record<string, string>, world?: World) {
  let stdout = '';
  let stderr = '';
  const exitCode = await runTill(argv, {
    env,
    ...(world !== undefined && { world }),
    stdout: { write: (part) => (stdout += part) },
    stderr: { write: (part) => (stderr += part) },
  });
  return { exitCode, stdout, stderr };
}
