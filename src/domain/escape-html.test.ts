import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { escapeHtml } from './escape-html.ts';

describe('a text in HTML', () => {
  it('has no character with a meaning, also within an attribute', () => {
    assert.equal(escapeHtml(`<a href="#" title='&lt;'>é`), '&lt;a href=&quot;#&quot; title=&#39;&amp;lt;&#39;&gt;é');
  });
});
