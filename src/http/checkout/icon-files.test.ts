import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REGISTRY } from '../../../test/registry.ts';
import { createRegistry } from '../../chains/registry.ts';
import { networkIconUrl, tokenIconUrl } from '../views/icons.ts';
import { iconFiles, initials } from './icon-files.ts';

const origin = { publicUrl: '', registry: REGISTRY };

describe('icons', () => {
  it('have been drawn for every built-in network, coin and token', () => {
    for (const { chainId, coin, assets } of REGISTRY.networks) {
      for (const id of [chainId, coin.id, ...assets.keys()]) assert.ok(REGISTRY.icon(id), id);
    }
  });

  it('are found at the addresses that answers name', () => {
    const find = iconFiles(REGISTRY);
    for (const { chainId } of REGISTRY.networks) {
      assert.ok(find(networkIconUrl(origin, chainId).replace('/icons/', '')), chainId);
    }
    for (const { symbol } of REGISTRY.assets) {
      assert.ok(find(decodeURIComponent(tokenIconUrl(origin, symbol).replace('/icons/', ''))), symbol);
    }
    assert.equal(find('token/NONE.svg'), undefined);
    assert.equal(find('../package.json'), undefined);
  });

  it('are initials where the file of a network has none, with the name as text', () => {
    const [network] = REGISTRY.networks;
    assert.ok(network);
    const named = { ...network, name: 'Own <b>Chain</b>' };
    const placeOf = () => '';
    const find = iconFiles(createRegistry([{ network: named, file: '', placeOf, icons: new Map() }]));
    const drawn = find('network/eip155-1.svg');
    assert.equal(drawn?.type, 'image/svg+xml; charset=utf-8');
    assert.match(drawn.bytes.toString(), /<title>Own &#60;b&#62;Chain&#60;\/b&#62;<\/title>.*>Ob<\/text>/);
    assert.match(find('token/USDC.svg')?.bytes.toString() ?? '', />US<\/text>/);
    assert.match(initials('Σίγμα δίκτυο'), />Σδ<\/text>/);
    assert.match(initials('!'), />\?<\/text>/);
  });

  it('differ where marks could be mistaken: PYUSD has no bar of the rouble, and Base no arrow', () => {
    const find = iconFiles(REGISTRY);
    const shapes = (path: string) => find(path)?.bytes.toString() ?? '';
    assert.doesNotMatch(shapes('token/PYUSD.svg'), /stroke=|M14\.5 31h11/);
    assert.doesNotMatch(shapes('network/eip155-8453.svg'), /M12\.5 32\.5h23/);
  });

  it('have no script, no link and no foreign content', () => {
    for (const { chainId, coin, assets } of REGISTRY.networks) {
      for (const id of [chainId, coin.id, ...assets.keys()]) {
        const text = REGISTRY.icon(id)?.bytes.toString() ?? '';
        assert.doesNotMatch(text, /script|foreignObject|href|\bon\w+=|url\(/i, id);
      }
    }
  });
});
