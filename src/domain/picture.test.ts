import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MAX_LINK_PICTURE_BYTES, MAX_LOGO_BYTES } from './picture.ts';

it('a logo may have 2 MB, and the picture of a link 256 KB, as the errors and the dashboard say', () => {
  assert.equal(MAX_LOGO_BYTES, 2 * 2 ** 20);
  assert.equal(MAX_LINK_PICTURE_BYTES, 256 * 2 ** 10);
});
