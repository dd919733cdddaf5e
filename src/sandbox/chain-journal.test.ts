import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemWorld } from '../runtime/system-world.ts';
import { BrokenJournalError, type ChainRecord, openChainJournal } from './chain-journal.ts';

const record = (atMs: number): ChainRecord => ({ atMs, transaction: `0x${'ab'.repeat(atMs)}` });

describe('the journal of the sandbox chain', () => {
  let root: string;
  let files = 0;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'till-journal-'));
  });
  after(() => rm(root, { recursive: true, force: true }));

  const newFile = () => {
    files += 1;
    return join(root, `journal-${files}`);
  };
  async function open(path: string) {
    const records: ChainRecord[] = [];
    const journal = await openChainJournal(systemWorld.timers, path, async (found) => void records.push(found));
    return { journal, records };
  }
  async function filled(count: number): Promise<string> {
    const path = newFile();
    const { journal } = await open(path);
    await Promise.all(Array.from({ length: count }, (_, index) => journal.append(record(index))));
    await journal.close();
    return path;
  }
  async function read(path: string): Promise<ChainRecord[]> {
    const { journal, records } = await open(path);
    await journal.close();
    return records;
  }

  it('returns the written records at once or later, in order', async () => {
    const path = await filled(300);
    const { journal } = await open(path);
    await journal.append({ atMs: 300, block: { timestampS: 7 } });
    await journal.close();
    const expected = Array.from({ length: 300 }, (_, index) => record(index));
    assert.deepEqual(await read(path), [...expected, { atMs: 300, block: { timestampS: 7 } }]);
  });

  it('cuts off a last line that was torn at any byte, and continues after the previous one', async () => {
    const path = await filled(3);
    const whole = await readFile(path);
    const lastStart = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (let end = lastStart; end < whole.length; end += 1) {
      await writeFile(path, whole.subarray(0, end));
      const { journal, records } = await open(path);
      assert.deepEqual(records, [record(0), record(1)]);
      await journal.append(record(9));
      await journal.close();
      assert.deepEqual(await read(path), [record(0), record(1), record(9)]);
    }
  });

  it('cuts off blocks of zeros and of old data at the end', async () => {
    for (const garbage of ['\0'.repeat(5_000), '00000000 {"atMs":1}\n', 'é\n\n{}\n']) {
      const path = await filled(2);
      await appendFile(path, garbage);
      assert.deepEqual(await read(path), [record(0), record(1)]);
      assert.deepEqual(await read(path), [record(0), record(1)]);
    }
  });

  it('is not believed when a line in its middle is damaged', async () => {
    const path = await filled(3);
    const text = await readFile(path, 'latin1');
    await writeFile(path, text.replace('"atMs":1', '"atMs":7'));
    await assert.rejects(
      open(path),
      (error: Error) => error instanceof BrokenJournalError && /^Line 2 /.test(error.message),
    );
  });
});
