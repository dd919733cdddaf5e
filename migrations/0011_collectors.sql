-- Items name the release of the Collector they are signed for. Until now there was one release, and nodes that still run
-- the code before this migration insert items without naming it: the default stands for both.
alter table items add column collector text not null default '0x005CE28BE7dC9eAea013Bbd2790c45FeaDF9290A';

-- The release of the attempt under way. An attempt that was planned and not yet signed is signed for the same release
-- after a restart.
alter table outgoing add column collector text not null default '0x005CE28BE7dC9eAea013Bbd2790c45FeaDF9290A';
