import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REGISTRY } from '../../../test/registry.ts';
import type { Network } from '../../chains/network.ts';
import type { Icon } from '../../chains/records/icon.ts';
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
    for (const { id, symbol } of REGISTRY.assets) {
      const path = decodeURIComponent(tokenIconUrl(origin, id).replace('/icons/', ''));
      assert.equal(path, `token/${symbol}.svg`, 'built-in tokens with the same symbol have the same picture');
      assert.ok(find(path), symbol);
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

  it('are those that the record names, also for two tokens with one symbol on two networks', () => {
    const one = REGISTRY.network('eip155:8453');
    const other = REGISTRY.network('eip155:137');
    assert.ok(one && other);
    const usdc = (network: Network) => [...network.assets.values()].find(({ symbol }) => symbol === 'USDC')?.id ?? '';
    const icon = (text: string) => ({ type: 'image/svg+xml' as const, bytes: Buffer.from(`<svg>${text}</svg>`) });
    const placeOf = () => '';
    const pictured = (icons: ReadonlyMap<string, Icon>) => {
      const registry = createRegistry([one, other].map((network) => ({ network, file: '', placeOf, icons })));
      const find = iconFiles(registry);
      return [one, other].map((network) => {
        const url = tokenIconUrl({ publicUrl: 'https://till.example', registry }, usdc(network));
        const path = decodeURIComponent(url.replace('https://till.example/icons/', ''));
        return [path, find(path)?.bytes.toString() ?? ''] as const;
      });
    };
    const both = new Map([
      [usdc(one), icon('one')],
      [usdc(other), icon('other')],
    ]);
    const ownPath = `token/${usdc(one).replace(/[:/]/g, '-')}.svg`;
    // Networks are listed by their numbers, so that of Polygon comes first.
    assert.deepEqual(pictured(both), [
      [ownPath, '<svg>one</svg>'],
      ['token/USDC.svg', '<svg>other</svg>'],
    ]);
    const same = new Map([...both.keys()].map((id) => [id, icon('same')]));
    assert.deepEqual(
      pictured(same).map(([path]) => path),
      ['token/USDC.svg', 'token/USDC.svg'],
    );
    const [[path, drawn] = ['', '']] = pictured(new Map([...both].slice(1)));
    assert.equal(path, ownPath);
    assert.match(drawn, />US<\/text>/, 'a record without an icon has initials, and not the mark of another token');
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
