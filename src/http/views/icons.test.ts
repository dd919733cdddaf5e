import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ASSETS, NETWORKS, REGISTRY } from '../../../test/registry.ts';
import { networkIconUrl, tokenIconUrl } from './icons.ts';

const DRAWN = join(import.meta.dirname, '../../../web/public');
const origin = { publicUrl: '', registry: REGISTRY };

describe('icons', () => {
  it('have been drawn for every asset and every network that is known', () => {
    const paths = new Set([
      ...ASSETS.map(({ symbol }) => tokenIconUrl(origin, symbol)),
      ...NETWORKS.map(({ chainId }) => networkIconUrl(origin, chainId)),
    ]);
    assert.deepEqual(
      [...paths].filter((path) => !existsSync(join(DRAWN, path))),
      [],
    );
  });
});
