import { PUBLIC_EVENT_TYPES } from '../../domain/event.ts';
import { concernsMerchants } from '../events/partner-feed.ts';

/**
 * The SQL condition that the endpoint `w` is subscribed to the event `e` at this moment. Every statement that creates, claims, shows or
 * repeats deliveries checks it. A test event is only for the endpoint that is tested.
 */
export function isSubscribed<Fragment>(
  sql: (text: TemplateStringsArray, ...values: (readonly string[] | Fragment)[]) => Fragment,
): Fragment {
  return sql`e.type = any(${PUBLIC_EVENT_TYPES}::text[]) and case
    when e.type = 'webhook_endpoint.test' then e.object_id = w.id
    else w.events && array['*', e.type, split_part(e.type, '.', 1) || '.*']
      and (w.merchant_ids is null or ${concernsMerchants(sql, sql`w.merchant_ids`)})
    end`;
}

/** The SQL condition that deliveries are sent to the endpoint `w`: it is active, and its partner is not disabled. */
export function isServed<Fragment>(sql: (text: TemplateStringsArray) => Fragment): Fragment {
  return sql`(w.status = 'active' and not exists (
    select from partners owner where owner.id = w.partner_id and owner.disabled_at is not null))`;
}
