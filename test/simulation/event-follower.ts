import { PUBLIC_EVENT_TYPES } from '../../src/domain/event.ts';
import { request } from './requests.ts';
import { type Stage, Violation } from './stage.ts';

interface EventBody {
  readonly id: string;
  readonly sequence: number;
  readonly data: { readonly id: string };
}

/** A program of the partner that follows `GET /v1/events`. It repeats a request that was not answered. */
export async function followEvents(stage: Stage): Promise<void> {
  const random = stage.random.fork('follower');
  const by = stage.newClient('follower');
  const { followed, scheduler } = stage;
  const headers = { 'api-key': stage.keys[0]?.secret ?? '' };
  while (!stage.isRestored) {
    const after = followed.cursor === undefined ? '' : `&after=${encodeURIComponent(followed.cursor)}`;
    const hold = random.chance(0.3) ? '&maxPollMs=5000' : '';
    const { quietSince } = stage;
    const url = `/v1/events?limit=${random.pick([1, 3, 50])}${hold}${after}`;
    const answer = await request(stage, by, random, { url, headers });
    if (stage.isRestored) return;
    if (answer?.status === 200) {
      const events = answer.body.events as readonly EventBody[];
      for (const event of events) take(stage, event);
      followed.cursor = String(answer.body.nextCursor);
      if (events.length === 0) followed.upToDateSince = quietSince;
    } else if (answer !== undefined && answer.status < 500) {
      throw new Violation('followers miss nothing', `a page was answered ${answer.status} ${answer.body?.message}`);
    }
    await scheduler.sleep(by, random.between(200, 8_000));
  }
}

function take({ followed }: Stage, { id, sequence, data }: EventBody): void {
  if (followed.ids.has(id)) throw new Violation('followers miss nothing', `${id} was sent twice`);
  const last = followed.sequences.get(data.id) ?? 0;
  if (sequence <= last) {
    throw new Violation('followers miss nothing', `event ${sequence} of ${data.id} was sent after event ${last}`);
  }
  followed.ids.add(id);
  followed.sequences.set(data.id, sequence);
}

/** The first event that the follower did not get. */
export async function findUnfollowed({ sql, followed }: Stage): Promise<string | undefined> {
  const rows = await sql<{ id: string; type: string; objectId: string }[]>`
    select id, type, object_id as "objectId" from events where type = any(${PUBLIC_EVENT_TYPES as string[]}::text[])
    order by id`;
  const missed = rows.find(({ id }) => !followed.ids.has(id));
  return missed && `${missed.type} of ${missed.objectId} was never sent`;
}
