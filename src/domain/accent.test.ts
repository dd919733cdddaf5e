import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { accentColours, accentProblem, accentSheet, contrast, GROUNDS, parseColour } from './accent.ts';
import { accentSheetPath } from './accent-path.ts';

const STYLES = join(import.meta.dirname, '../../web/src');
const colours = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const grounds = Object.values(GROUNDS).flatMap((theme) => Object.values(theme));

describe('an accent colour', () => {
  it('has the contrast that WCAG computes', () => {
    for (const [one, other, ratio] of [
      ['#000000', '#ffffff', 21],
      ['#ffffff', '#ffffff', 1],
      ['#777777', '#ffffff', 4.47],
      ['#767676', '#ffffff', 4.54],
      ['#ff0000', '#ffffff', 3.99],
      ['#0000ff', '#000000', 2.44],
      // The scale is linear up to a channel of 10.
      ['#0a0a0a', '#000000', 1.06],
      ['#141414', '#000000', 1.13],
    ] as const) {
      assert.equal(Math.floor(contrast(one, other) * 100) / 100, ratio, `${one} ${other}`);
      assert.equal(contrast(one, other), contrast(other, one));
    }
  });

  it('is refused if its buttons are hard to see in one of the themes', () => {
    for (const [accent, theme] of [
      ['#ffffff', 'light'],
      ['#ffee00', 'light'],
      ['#000000', 'dark'],
      ['#16181d', 'dark'],
      ['#0000ff', 'dark'],
    ] as const) {
      const problem = accentProblem(accent);
      assert.equal(problem?.theme, theme, accent);
      assert.ok(problem.ratio < problem.needed, accent);
    }
    for (const accent of ['#635bff', '#0070f3', '#e11d48', '#0f7b6c', '#d9691a']) {
      assert.equal(accentProblem(accent), undefined, accent);
    }
  });

  it('is accepted with 3:1 against every ground, and refused with less', () => {
    fc.assert(
      fc.property(colours, (accent) => {
        const isVisible = grounds.every((ground) => contrast(accent, ground) >= 3);
        assert.equal(accentProblem(accent) === undefined, isVisible);
      }),
    );
  });

  it('that is refused comes with a colour that is not', () => {
    fc.assert(
      fc.property(colours, (accent) => {
        const problem = accentProblem(accent);
        if (problem === undefined) return;
        assert.ok(problem.ratio < problem.needed, 'the ratio is rounded down');
        assert.equal(accentProblem(problem.nearest), undefined);
      }),
    );
  });

  it('is mixed with black or white, no further than needed', () => {
    for (const [accent, ground, ratio, nearest] of [
      ['#ffffff', '#ffffff', 1, '#8c8c8c'],
      ['#ffee00', '#f4f3ef', 1.08, '#998f00'],
      ['#0000ff', '#1b1f26', 1.92, '#4d4dff'],
    ] as const) {
      const { theme: _, ...problem } = accentProblem(accent) ?? assert.fail(accent);
      assert.deepEqual(problem, { ground, ratio, needed: 3, nearest });
    }
  });

  it('is darkened for the pointer, or lightened where that would be hard to see, as far as it stays visible', () => {
    for (const [accent, hover] of [
      ['#02a12d', '#028e28'],
      ['#0172ef', '#1f83f1'],
      ['#007ba5', '#007198'],
      ['#05794e', '#19845c'],
      ['#048204', '#047d04'],
      ['#07759f', '#117ba3'],
    ] as const)
      assert.equal(accentColours(accent).hover, hover, accent);
  });

  it('has readable text, and a colour for the pointer that is as visible', () => {
    fc.assert(
      fc.property(colours, (colour) => {
        const accent = accentProblem(colour)?.nearest ?? colour;
        const { main, hover, text } = accentColours(accent);
        assert.equal(main, accent);
        for (const each of [main, hover]) {
          assert.ok(contrast(each, text) >= 4.5, `${text} on ${each}`);
          assert.equal(accentProblem(each), undefined);
        }
      }),
    );
    assert.ok(Math.max(contrast('#767676', '#ffffff'), contrast('#767676', '#000000')) >= 4.5);
  });

  it('is read in one spelling, and nothing else passes for one', () => {
    assert.equal(parseColour('#AbCdEf'), '#abcdef');
    for (const text of [
      '',
      '#fff',
      'red',
      '635bff',
      ' #635bff',
      '#635bff ',
      '#635bff\n',
      '#635bfff',
      '#63５bff',
      'rgb(0,0,0)',
      '#635bf;}body{display:none',
      '</style><script>',
      'url(https://evil.example)',
    ]) {
      assert.equal(parseColour(text), null, text);
    }
  });

  it('makes a stylesheet of three colours', () => {
    assert.equal(accentSheet('#635bff'), ':root{--main:#635bff;--main-hover:#5b54eb;--on-main:#ffffff}\n');
    assert.equal(accentSheetPath('#635bff'), '/brand/635bff.css');
  });
});

describe('the grounds of the themes', () => {
  const [light = '', dark = ''] = readFileSync(join(STYLES, 'shared/styles/tokens.css'), 'utf8').split('@media');
  const valueIn = (text: string, name: string) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(text)?.[1];

  it('are those of the stylesheet', () => {
    for (const [theme, text] of [
      ['light', light],
      ['dark', dark],
    ] as const) {
      for (const [name, value] of Object.entries(GROUNDS[theme])) assert.equal(valueIn(text, name), value, name);
    }
  });

  it('are those of the preview in the dashboard', () => {
    const preview = readFileSync(join(STYLES, 'dashboard/styles/branding.css'), 'utf8');
    for (const [theme, text] of [
      ['light', light],
      ['dark', dark],
    ] as const) {
      const block = new RegExp(`\\.brand-${theme} \\{([^}]+)\\}`).exec(preview)?.[1] ?? '';
      const names = [...block.matchAll(/--([a-z-]+):/g)].map((match) => match[1] ?? '');
      assert.ok(names.length >= 8);
      for (const name of names) assert.equal(valueIn(block, name), valueIn(text, name), `${theme} ${name}`);
    }
  });
});
