import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { everything, groupsOf, namedIn, switched } from './accepted.ts';

const OFFERED = [
  { asset: 'eip155:1/erc20:0xa', symbol: 'USDC', network: 'eip155:1', networkName: 'Ethereum' },
  { asset: 'eip155:1/slip44:60', symbol: 'ETH', network: 'eip155:1', networkName: 'Ethereum' },
  { asset: 'eip155:10/erc20:0xb', symbol: 'USDC', network: 'eip155:10', networkName: 'Optimism' },
];
const groups = groupsOf(OFFERED, null);
const [one, ten] = groups;
if (one === undefined || ten === undefined) throw new Error('There are two networks.');

describe('the switches of accepted assets', () => {
  it('are grouped by network', () => {
    assert.deepEqual(
      groups.map(({ name, assets }) => [name, assets.map(({ symbol }) => symbol)]),
      [
        ['Ethereum', ['USDC', 'ETH']],
        ['Optimism', ['USDC']],
      ],
    );
    assert.deepEqual(everything(groups), ['eip155:1', 'eip155:10']);
  });

  it('have entries that are not offered now, so that they can be switched off', () => {
    const more = groupsOf(OFFERED, ['eip155:1/erc20:0xc', 'eip155:5']);
    assert.deepEqual(
      more.map(({ name, assets }) => [name, assets.map(({ symbol }) => symbol)]),
      [
        ['Ethereum', ['USDC', 'ETH', 'erc20:0xc']],
        ['Optimism', ['USDC']],
        ['eip155:5', []],
      ],
    );
  });

  it('switch one asset of a network off, and keep the others', () => {
    assert.deepEqual(switched(['eip155:1', 'eip155:10'], one, 'eip155:1/slip44:60'), [
      'eip155:1/erc20:0xa',
      'eip155:10',
    ]);
    assert.deepEqual(switched(['eip155:1/erc20:0xa'], one, 'eip155:1/erc20:0xa'), []);
    assert.deepEqual(switched(['eip155:10'], one, 'eip155:1/erc20:0xa'), ['eip155:1/erc20:0xa', 'eip155:10']);
  });

  it('switch a whole network, which includes assets that are added later', () => {
    assert.deepEqual(switched(['eip155:1/erc20:0xa'], one, 'eip155:1'), ['eip155:1']);
    assert.deepEqual(switched(['eip155:1', 'eip155:10'], ten, 'eip155:10'), ['eip155:1']);
  });

  it('name whole networks and assets', () => {
    assert.deepEqual(namedIn(['eip155:1/erc20:0xa', 'eip155:10'], groups), [
      { network: 'Ethereum', symbol: 'USDC' },
      { network: 'Optimism' },
    ]);
  });
});
