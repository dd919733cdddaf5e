import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { en } from '../../web/src/dashboard/strings/en.ts';
import { ONLY_LONG } from '../long.ts';
import { assertAccessible } from './accessible.ts';
import { withAuthenticator } from './authenticator.ts';
import { operatorLink } from './operator-link.ts';
import type { Scene, Visit } from './scene.ts';

/** A finding with these words. */
const finding = (level: string, message: string) => ({ level, message, remedy: `What to do about it: ${message}` });
const HOSTILE = 'K \u202e"><img src=x onerror=alert(1)>';

/** An examination with a finding of every level, from the least to the worst, and with a check that the page does not know. */
const EXAMINATION = {
  at: '2026-11-01T10:00:00.000Z',
  level: 'fault',
  sections: [
    { check: 'program', title: 'Program', level: 'well', facts: [{ name: 'version', value: '1.2.3' }], findings: [] },
    { check: 'schema', title: 'Schema', level: 'well', facts: [], findings: [] },
    { check: 'disk', title: 'Disk', level: 'remark', facts: [], findings: [finding('remark', 'The disk is old.')] },
    {
      check: 'publicUrl',
      title: 'Public URL',
      level: 'unknown',
      facts: [],
      findings: [finding('unknown', 'The URL gave no answer.')],
    },
    {
      check: 'clocks',
      title: 'Clocks',
      level: 'warning',
      facts: [{ name: HOSTILE, value: `0x${'ab'.repeat(64)}` }],
      findings: [finding('warning', 'The clock is 12 s ahead.')],
    },
    { check: 'tides', title: 'Tides', level: 'fault', facts: [], findings: [finding('fault', HOSTILE)] },
  ],
};

/** The pages of the gateway, for a person of the operator. */
export function operatorSuite(opened: () => { readonly scene: Scene }): void {
  let scene: Scene;
  let visit: Visit;
  before(async () => {
    ({ scene } = opened());
    visit = await scene.visit();
    const { context, page } = visit;
    await withAuthenticator(context, page);
    await page.goto(await operatorLink(scene));
    await page.getByRole('button', { name: en.later }).click();
    await at(page, en.operator);
  });
  after(() => visit.close());

  const at = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const detailsOf = (page: Page, title: string) =>
    page.locator('details').filter({ has: page.getByText(title, { exact: true }) });

  it('show what an examination finds, as `till doctor` does', async () => {
    const { page } = visit;
    await page.getByRole('link', { name: en.examination, exact: true }).click();
    await page.getByText(en.examinedAt).waitFor();
    const program = detailsOf(page, en['check program']);
    await program.locator('summary').click();
    await program.getByText('Node', { exact: true }).waitFor();
    await assertAccessible(page, 'examination');
  });

  it('show the findings of an examination from the worst to the least, on every width', async () => {
    const { page } = visit;
    await page.route('**/v1/operator/examination', (route) => route.fulfill({ json: EXAMINATION }));
    await page.getByRole('button', { name: en.examineAgain }).click();
    const verdict = page.getByRole('region', { name: en['verdict fault'] });
    await verdict.waitFor();
    assert.deepEqual(await verdict.locator('.badge').allTextContents(), [
      en['level fault'],
      en['level warning'],
      en['level unknown'],
      en['level remark'],
    ]);
    const worst = await verdict.getByRole('listitem').first().innerText();
    assert.match(worst, /Tides/, 'a check that the page does not know has the title of the gateway');
    assert.match(worst, /onerror/, 'strange words are words');
    assert.match(worst, /What to do about it/);
    assert.equal(await page.locator('img[src="x"]').count(), 0);
    await page.getByRole('region', { name: en['check schema'] }).getByText(en.nothingFound).waitFor();
    await page.getByRole('region', { name: en['check disk'] }).getByText(en.seeAbove).waitFor();
    await detailsOf(page, en['check clocks']).locator('summary').click();
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const overflow = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      assert.ok(Number(overflow) <= 0, `${overflow} px too wide at ${width}`);
      await assertAccessible(page, `findings at ${width}`);
    }
  });

  it('keep the last examination while the gateway is out of reach', async () => {
    const { page } = visit;
    await page.unrouteAll();
    await page.route('**/v1/operator/examination', (route) => route.abort());
    await page.getByRole('button', { name: en.examineAgain }).click();
    await page.getByRole('alert').getByText(en.unreachable).waitFor();
    await page.getByRole('region', { name: en['verdict fault'] }).waitFor();
    await page.unrouteAll();
  });

  it('show the gateway to its operator, who chooses a partner', ONLY_LONG, async () => {
    const { page } = visit;
    await page.getByRole('link', { name: en.state, exact: true }).click();
    await page.getByText(en.nodes, { exact: true }).waitFor();
    await page.getByText('eip155:31337', { exact: true }).first().waitFor();
    await assertAccessible(page, 'operator');
    assert.equal(await page.getByRole('link', { name: en.payments }).count(), 0);
    await page.getByLabel(en.partner).selectOption({ index: 1 });
    await at(page, en.payments);
    await page.getByText('REFUND-1').waitFor();
  });
}
