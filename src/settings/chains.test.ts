import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findNetwork, REGISTRY } from '../../test/registry.ts';
import { finalityOf, isSmall } from '../chains/finality.ts';
import { systemWorld as world } from '../runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../sandbox/genesis.ts';

import {
  gasBudgets,
  intermediateSignerOf,
  isSandbox,
  minBalanceOn,
  needsOwnChain,
  networksInUse,
  relayersOf,
} from './chains.ts';
import type { Config } from './config.ts';
import { readConfig } from './read-config.ts';

const ACCOUNT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const KEY = `0x${'1a'.repeat(32)}`;
const USDC_ON_ETHEREUM = 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

function configOf(environment: Record<string, string>): Config {
  const read = readConfig({ FEE_ACCOUNT: ACCOUNT, INTERMEDIATE_ACCOUNT: ACCOUNT, ...environment });
  assert.ok('config' in read);
  return read.config;
}

function networkOf(chainId: string) {
  const network = findNetwork(chainId);
  assert.ok(network);
  return network;
}

const deps = { registry: REGISTRY };
const ethereum = networkOf('eip155:1');
const sandbox = networkOf('eip155:31337');

describe('the networks in use', () => {
  it('are the sandbox chain when none is configured, and only the configured ones otherwise', () => {
    const none = configOf({});
    assert.ok(needsOwnChain(none) && isSandbox(none));
    assert.deepEqual(networksInUse(none, undefined), []);
    const [own] = networksInUse(none, { rpcUrl: 'http://127.0.0.1:1' });
    assert.deepEqual([own?.network.chainId, own?.endpoints], ['eip155:31337', ['http://127.0.0.1:1']]);

    const live = configOf({ RPC_URLS: 'eip155:1=https://a.example eip155:31337=http://127.0.0.1:1' });
    assert.ok(!needsOwnChain(live) && !isSandbox(live));
    assert.deepEqual(
      networksInUse(live, undefined).map(({ network }) => network.chainId),
      ['eip155:1', 'eip155:31337'],
    );
    assert.ok(isSandbox(configOf({ RPC_URLS: 'eip155:31337=http://127.0.0.1:1' })));
  });

  it('have the depth the operator asks for, and more from an amount on', () => {
    const config = configOf({ RPC_URLS: 'eip155:1=https://a.example', FINALITY_DEPTHS: 'eip155:1=6,20@10000' });
    assert.equal(networksInUse(config, undefined)[0]?.network.finality?.depth, 6);
    const [ethereumInUse] = networksInUse(config, undefined);
    assert.ok(ethereumInUse);
    const depth = (amount: string) =>
      finalityOf(deps, ethereumInUse.network, { asset: USDC_ON_ETHEREUM, amount }).depth;
    assert.deepEqual([depth('9999000000'), depth('10000000000')], [6, 20]);
  });

  it('have a word of the network for the finality of large amounts, and a ceiling for a lone endpoint', () => {
    const [inUse] = networksInUse(
      configOf({
        RPC_URLS: 'eip155:1=https://a.example',
        FINALITY_DEPTHS: 'eip155:1=finalized@50000',
        SINGLE_ENDPOINT_CEILING: '10 eip155:1=500',
      }),
      undefined,
    );
    assert.ok(inUse);
    const amount = (dollars: number) => ({ asset: USDC_ON_ETHEREUM, amount: `${dollars}000000` });
    assert.equal(finalityOf(deps, inUse.network, amount(49_999)).tag, undefined);
    assert.equal(finalityOf(deps, inUse.network, amount(50_000)).tag, 'finalized');
    assert.deepEqual(
      [isSmall(deps, inUse.network, amount(500)), isSmall(deps, inUse.network, amount(501))],
      [true, false],
    );
  });

  it('have relayers of their own', () => {
    const config = configOf({ RELAYER_KEYS: `${KEY},${ACCOUNT}`, EXTERNAL_SIGNER_URL: 'http://127.0.0.1:1' });
    const addresses = relayersOf({ config, world }, ethereum).map(({ address }) => address);
    assert.equal(addresses.length, 2);
    assert.equal(addresses[1], ACCOUNT);
    assert.deepEqual(
      relayersOf({ config, world }, sandbox).map(({ address }) => address),
      [SANDBOX_ACCOUNTS.relayer, SANDBOX_ACCOUNTS.secondRelayer],
      'keys for every network have no coins in the sandbox',
    );
    assert.deepEqual(relayersOf({ config: configOf({}), world }, ethereum), []);
  });

  it('never get a key that everybody knows, except for the sandbox', () => {
    const config = configOf({ RELAYER_KEYS: SANDBOX_KEYS.relayer });
    assert.throws(() => relayersOf({ config, world }, ethereum), /RELAYER_KEYS has a key of the sandbox for eip155:1/);
  });

  it('have a signer for the intermediate account where its key is configured', () => {
    const external = { INTERMEDIATE_KEY: ACCOUNT, EXTERNAL_SIGNER_URL: 'http://127.0.0.1:1' };
    const signerOn = (environment: Record<string, string>, network = ethereum) =>
      intermediateSignerOf({ config: configOf(environment), world }, network)?.address;
    assert.equal(signerOn({}), undefined);
    assert.equal(signerOn(external), ACCOUNT);
    assert.equal(signerOn({}, sandbox), SANDBOX_ACCOUNTS.intermediate);
    assert.equal(signerOn(external, sandbox), SANDBOX_ACCOUNTS.intermediate);
    assert.equal(signerOn({ INTERMEDIATE_ACCOUNT: `eip155:31337=${ACCOUNT}` }, sandbox), undefined);
    assert.throws(
      () => signerOn({ INTERMEDIATE_KEY: KEY }),
      /INTERMEDIATE_KEY is the key of 0x\w+, and INTERMEDIATE_ACCOUNT/,
    );
    assert.throws(
      () => signerOn({ INTERMEDIATE_KEY: SANDBOX_KEYS.intermediate }),
      /INTERMEDIATE_KEY has a key of the sandbox/,
    );
    const unsigned = readConfig({ INTERMEDIATE_KEY: ACCOUNT });
    assert.ok('problems' in unsigned && unsigned.problems[0]?.startsWith('INTERMEDIATE_KEY has addresses'));
  });

  it('have a balance below which relayers are looked after', () => {
    const config = configOf({ RELAYER_MIN_BALANCE: 'eip155:137=5' });
    assert.equal(minBalanceOn(config, 'eip155:137'), 5n * 10n ** 18n);
    assert.equal(minBalanceOn(config, 'eip155:1'), 10n ** 16n);
  });

  it('have gas budgets, by default far above honest use; gas is free in the sandbox', () => {
    const usual = gasBudgets(configOf({}));
    const coin = 10n ** 18n;
    assert.equal(usual.feeCap('eip155:1'), 1_000n * 10n ** 9n);
    assert.equal(usual.feeCap('eip155:137'), 10_000n * 10n ** 9n);
    assert.equal(usual.costPerHour('eip155:8453'), 5n * coin);
    assert.equal(usual.costPerHour('eip155:137'), 2_000n * coin);
    assert.deepEqual([usual.feeCap('eip155:31337'), usual.costPerHour('eip155:31337')], [undefined, undefined]);
    assert.equal(usual.workPerItem('eip155:31337'), 1_500_000n);
    const own = gasBudgets(
      configOf({
        GAS_PRICE_CAP: '1.5 eip155:137=800',
        GAS_PER_ITEM: '700000',
        GAS_PER_PAYER_HOUR: 'eip155:1=9000000',
        GAS_COST_PER_HOUR: '0.25',
      }),
    );
    assert.equal(own.feeCap('eip155:1'), 1_500_000_000n);
    assert.equal(own.feeCap('eip155:137'), 800n * 10n ** 9n);
    assert.equal(own.workPerItem('eip155:1'), 700_000n);
    assert.deepEqual([own.workPerPayerHour('eip155:1'), own.workPerPayerHour('eip155:10')], [9_000_000n, 50_000_000n]);
    assert.equal(own.costPerHour('eip155:1'), coin / 4n);
  });
});
