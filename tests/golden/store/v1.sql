BEGIN TRANSACTION;
CREATE TABLE artefacts (
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            size INTEGER NOT NULL,
            PRIMARY KEY (run_id, name)
        );
CREATE TABLE checkpoints (
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            kind TEXT NOT NULL CHECK (kind IN ('json', 'bytes')),
            sha256 TEXT NOT NULL,
            position INTEGER NOT NULL,
            PRIMARY KEY (run_id, name)
        );
CREATE TABLE findings (
            run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            fingerprint TEXT NOT NULL,
            cause_fingerprint TEXT NOT NULL,
            title TEXT NOT NULL,
            confidence TEXT NOT NULL,
            PRIMARY KEY (run_id, position)
        );
INSERT INTO "findings" VALUES('run-001',0,'6a1201da508f1252','dca76b1e320eb55d','EAGLE was asked for, the draft is an EAGLE3 draft','proved');
CREATE TABLE runs (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            status TEXT NOT NULL CHECK (status IN ('running', 'finished')),
            pid INTEGER NOT NULL,
            started_at TEXT NOT NULL,
            host TEXT NOT NULL,
            symptom TEXT NOT NULL,
            request TEXT NOT NULL DEFAULT '{}',
            outcome TEXT NOT NULL DEFAULT '',
            title TEXT NOT NULL DEFAULT '',
            package TEXT NOT NULL DEFAULT '',
            version TEXT NOT NULL DEFAULT '',
            playbook TEXT NOT NULL DEFAULT '',
            report TEXT NOT NULL DEFAULT ''
        );
INSERT INTO "runs" VALUES(1,'run-001','finished',4242,'2026-05-01T10:00:00Z','gpu-07','hidden dim 7168 where fc expects 21504, accept length 1.0','{}','cause_confirmed','EAGLE was asked for, the draft is an EAGLE3 draft','sglang','0.5.9','eagle3-aux-capture','f8422c60ad4cc569139a8636c02437064ed188a013b584c77630332acdac1df1');
CREATE INDEX findings_by_fingerprint ON findings (fingerprint);
CREATE INDEX findings_by_cause ON findings (cause_fingerprint);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',1);
PRAGMA user_version=1;
COMMIT;
