import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Checks the present page by the rules of axe, or only these parts of a very long page. The theme matters only to the
 * rules about colours.
 */
export async function assertAccessible(page: Page, state: string, parts: readonly string[] = ['html']): Promise<void> {
  const context = JSON.stringify({ include: parts.map((selector) => [selector]) });
  // Evaluated, not added as a script: the policy of the page refuses scripts.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE);
  for (const [colorScheme, rules] of [
    ['dark', "{ runOnly: ['color-contrast'] }"],
    ['light', '{}'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = (await page.evaluate(`axe.run(${context}, ${rules})`)) as {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    };
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
    assert.deepEqual(found, [], `${state}, ${colorScheme}`);
  }
}
