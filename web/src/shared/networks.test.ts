import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ASSETS, NETWORKS } from '../../../test/registry.ts';
import { accountsOf, chainOf, transactionPath } from './networks.ts';

const ICONS = join(import.meta.dirname, '../../public/icons');

describe('networks', () => {
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
    assert.deepEqual(accountsOf('0x1', { coins: { 'eip155:777': 'OWN' } }), ['eip155:777:0x1']);
  });
});
