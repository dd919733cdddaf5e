import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ASSETS } from '../../../src/chains/assets.ts';
import { NETWORKS } from '../../../src/chains/networks.ts';
import { accountsOf, chainOf, EVM_COINS, transactionPath } from './networks.ts';

const ICONS = join(import.meta.dirname, '../../public/icons');

describe('networks', () => {
  it('are those of the gateway', () => {
    const known = NETWORKS.map(({ chainId }) => chainId).filter((chainId) => chainId.startsWith('eip155:'));
    assert.deepEqual(Object.keys(EVM_COINS).sort(), known.sort());
    for (const { id, symbol, pay } of ASSETS) {
      if (pay?.method === 'native') assert.equal(EVM_COINS[id.split('/')[0] ?? ''], symbol, id);
    }
  });

  it('and assets all have a picture', () => {
    const pictures = [
      ...NETWORKS.map(({ chainId }) => `network/${chainId.replace(':', '-')}.svg`),
      ...ASSETS.map(({ symbol }) => `token/${symbol}.svg`),
    ];
    assert.deepEqual(
      pictures.filter((path) => !existsSync(join(ICONS, path))),
      [],
    );
  });

  it('are found in units, and transactions on them', () => {
    assert.equal(chainOf('caip19/eip155:8453/erc20:0x1'), 'eip155:8453');
    assert.equal(chainOf('iso4217/EUR'), undefined);
    assert.equal(transactionPath('eip155:1', '0xab'), '/tx/eip155:1/0xab');
    assert.equal(transactionPath('eip155:1', '../x'), null);
    assert.ok(accountsOf('0x1', { chainId: 'eip155:777', rpcPath: '', blockViewPath: '' }).includes('eip155:777:0x1'));
  });
});
