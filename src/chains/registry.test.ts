import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { networkJsonSchema } from './records/network-schema.ts';
import { assetsOf, builtInRegistry, coinOf, isTestNetwork, methodOf } from './registry.ts';

const FOLDER = join(import.meta.dirname, '../../networks');

describe('the registry', () => {
  const registry = builtInRegistry();

  it('finds networks by CAIP-2 and assets by CAIP-19', () => {
    for (const network of registry.networks) assert.equal(registry.network(network.chainId), network);
    for (const asset of registry.assets) {
      assert.equal(registry.asset(asset.id), asset);
      assert.ok(assetsOf(registry, asset.id.split('/')[0] ?? '').includes(asset));
    }
    assert.equal(registry.network('eip155:999999'), undefined);
    assert.deepEqual(assetsOf(registry, 'eip155:999999'), []);
  });

  it('has live networks first, and chains by their numbers', () => {
    const ids = registry.networks.map(({ chainId }) => chainId);
    assert.deepEqual(ids.slice(0, 4), ['eip155:1', 'eip155:10', 'eip155:56', 'eip155:137']);
    const modes = registry.networks.map(({ mode }) => mode);
    assert.ok(modes.lastIndexOf('live') < modes.indexOf('test'));
    assert.ok(isTestNetwork(registry, 'eip155:84532') && !isTestNetwork(registry, 'eip155:8453'));
  });

  it('takes Ether for the coin of an unknown network, so that old rows stay readable', () => {
    assert.equal(coinOf(registry, 'eip155:999999'), 'eip155:999999/slip44:60');
  });

  it('refuses a method for an asset that nobody can pay with', () => {
    const asset = 'eip155:1/erc20:0x0000000000000000000000000000000000000001';
    assert.throws(() => methodOf(registry, { asset, method: 'deposit' }), /cannot be paid with/);
  });

  it('has files that the published schema accepts', () => {
    const validate = new Ajv2020({ strict: false }).compile(networkJsonSchema());
    for (const { chainId } of registry.networks) {
      const record = JSON.parse(readFileSync(join(FOLDER, `${chainId.replace(':', '-')}.json`), 'utf8'));
      assert.ok(validate(record), JSON.stringify(validate.errors));
    }
    assert.equal(validate({ id: 'eip155:1' }), false);
  });
});
