-- A history of version 6 with two runs, both judged, the second one confirmed as regressed in a case and pinned.
BEGIN TRANSACTION;
CREATE TABLE bench_case (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,         -- what cases are matched by
        name TEXT NOT NULL);
INSERT INTO "bench_case" VALUES(1,'Model/batch:4/ctx:512/impl:sdpa/pass:forward/precision:bf16/size:small','Model/size:small/ctx:512/batch:4/pass:forward/precision:bf16/impl:sdpa');
INSERT INTO "bench_case" VALUES(2,'Model/batch:4/ctx:512/impl:eager/pass:train_step/precision:bf16/size:small','Model/size:small/ctx:512/batch:4/pass:train_step/precision:bf16/impl:eager');
CREATE TABLE excluded (
        run INTEGER NOT NULL REFERENCES run (id),
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        PRIMARY KEY (run, bench_case)) WITHOUT ROWID;
CREATE TABLE expected (
        model TEXT NOT NULL,              -- of the GPU, or of the processor
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        since TEXT NOT NULL,              -- UTC: the first run that it was a baseline in
        is_retired INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (model, bench_case)) WITHOUT ROWID;
INSERT INTO "expected" VALUES('NVIDIA H200',1,'2026-01-02T03:00:00Z',0);
CREATE TABLE file (
        digest TEXT PRIMARY KEY,          -- SHA-256
        run INTEGER NOT NULL REFERENCES run (id),
        path TEXT NOT NULL,
        started TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "file" VALUES('file0',1,'run0.json','2026-01-02T03:00:00Z');
INSERT INTO "file" VALUES('file1',2,'run1.json','2026-01-03T03:00:00Z');
CREATE TABLE finding (
        run INTEGER NOT NULL REFERENCES run (id),
        outcome TEXT NOT NULL,
        subject TEXT NOT NULL,            -- a case's name, or what of the run it is about
        text TEXT NOT NULL);
INSERT INTO "finding" VALUES(2,'REGRESSED','Model/size:small/ctx:512/batch:4/pass:forward/precision:bf16/impl:sdpa','');
CREATE TABLE judgement (
        run INTEGER PRIMARY KEY REFERENCES run (id),
        report TEXT NOT NULL);
INSERT INTO "judgement" VALUES(1,'{"started":"2026-01-02T03:00:00Z","commit":"commit0","fingerprint":"NVIDIA H200, 132 SMs, 140 GiB, ECC on, MIG off, 700 W, clocks default, Release","epoch":"driver 580.1, libtorch 2.11.0, schema 1","processes":3,"nights":0,"is_valid":true,"ceilings":[],"missing":[],"stale":[],"warnings":["no Ceiling cases were measured: whether the machine is as it was is not checked"],"cases":[{"name":"Model/size:small/ctx:512/batch:4/pass:forward/precision:bf16/impl:sdpa","family":"Model","key":"Model/batch:4/ctx:512/impl:sdpa/pass:forward/precision:bf16/size:small","verdict":"NEW","nights":0,"tonight_s":0.010100000000000003,"threshold":0.02,"blocks":0,"since":[]},{"name":"Model/size:small/ctx:512/batch:4/pass:train_step/precision:bf16/impl:eager","family":"Model","key":"Model/batch:4/ctx:512/impl:eager/pass:train_step/precision:bf16/size:small","verdict":"INVALID","nights":0,"threshold":0.02,"blocks":0,"since":[],"note":"oom: 3 GiB"}]}');
INSERT INTO "judgement" VALUES(2,'{"started":"2026-01-03T03:00:00Z","commit":"commit1","fingerprint":"NVIDIA H200, 132 SMs, 140 GiB, ECC on, MIG off, 700 W, clocks default, Release","epoch":"driver 580.1, libtorch 2.11.0, schema 1","processes":3,"nights":1,"is_valid":true,"ceilings":[],"missing":[],"stale":[],"warnings":["no Ceiling cases were measured: whether the machine is as it was is not checked"],"cases":[{"name":"Model/size:small/ctx:512/batch:4/pass:forward/precision:bf16/impl:sdpa","family":"Model","key":"Model/batch:4/ctx:512/impl:sdpa/pass:forward/precision:bf16/size:small","verdict":"REGRESSED","nights":1,"reference_s":0.010099669956211784,"tonight_s":0.010100000000000003,"ratio":1.0,"threshold":0.02,"blocks":0,"since":[]},{"name":"Model/size:small/ctx:512/batch:4/pass:train_step/precision:bf16/impl:eager","family":"Model","key":"Model/batch:4/ctx:512/impl:eager/pass:train_step/precision:bf16/size:small","verdict":"INVALID","nights":0,"threshold":0.02,"blocks":0,"since":[],"note":"oom: 3 GiB"}]}');
CREATE TABLE measurement (
        run INTEGER NOT NULL REFERENCES run (id),
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        replicate INTEGER NOT NULL,
        status TEXT NOT NULL,
        reason TEXT NOT NULL,
        time_s REAL,                      -- median of the process
        relative_half_width REAL,
        sm_clock_hz REAL,
        peak_bytes INTEGER,
        flop REAL,
        mfu REAL, ceiling_share REAL, ceiling TEXT NOT NULL DEFAULT '', host_bound INTEGER, device_time_s REAL, requested_peak_bytes INTEGER,
        PRIMARY KEY (run, bench_case, replicate)) WITHOUT ROWID;
INSERT INTO "measurement" VALUES(1,1,0,'ok','',0.0101,NULL,1980000000.0,995257856,NULL,0.42,0.56,'',NULL,0.00909,995000000);
INSERT INTO "measurement" VALUES(1,1,1,'ok','',0.0102,NULL,1980000000.0,995257856,NULL,0.42,0.56,'',NULL,0.00918,995000000);
INSERT INTO "measurement" VALUES(1,1,2,'ok','',0.01,NULL,1980000000.0,995257856,NULL,0.42,0.56,'',NULL,0.009,995000000);
INSERT INTO "measurement" VALUES(1,2,0,'oom','3 GiB',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL);
INSERT INTO "measurement" VALUES(1,2,1,'oom','3 GiB',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL);
INSERT INTO "measurement" VALUES(1,2,2,'oom','3 GiB',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL);
INSERT INTO "measurement" VALUES(2,1,0,'ok','',0.0101,NULL,1980000000.0,995257856,NULL,0.42,0.56,'',NULL,0.00909,995000000);
INSERT INTO "measurement" VALUES(2,1,1,'ok','',0.0102,NULL,1980000000.0,995257856,NULL,0.42,0.56,'',NULL,0.00918,995000000);
INSERT INTO "measurement" VALUES(2,1,2,'ok','',0.01,NULL,1980000000.0,995257856,NULL,0.42,0.56,'',NULL,0.009,995000000);
INSERT INTO "measurement" VALUES(2,2,0,'oom','3 GiB',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL);
INSERT INTO "measurement" VALUES(2,2,1,'oom','3 GiB',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL);
INSERT INTO "measurement" VALUES(2,2,2,'oom','3 GiB',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL);
CREATE TABLE pin (                  -- the run is the case's baseline from then on
        run INTEGER NOT NULL REFERENCES run (id),
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        PRIMARY KEY (run, bench_case)) WITHOUT ROWID;
INSERT INTO "pin" VALUES(1,1);
INSERT INTO "pin" VALUES(2,1);
CREATE TABLE regression (           -- confirmed
        run INTEGER NOT NULL REFERENCES run (id),
        bench_case INTEGER NOT NULL REFERENCES bench_case (id),
        PRIMARY KEY (run, bench_case)) WITHOUT ROWID;
INSERT INTO "regression" VALUES(2,1);
CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL UNIQUE,      -- of the files' digests
        started TEXT NOT NULL,            -- UTC, ISO 8601
        fingerprint TEXT NOT NULL,        -- machine and setting
        epoch TEXT NOT NULL,              -- driver and libraries
        environment TEXT NOT NULL, is_valid INTEGER NOT NULL DEFAULT 1, is_blind INTEGER NOT NULL DEFAULT 0, way TEXT NOT NULL DEFAULT '');
INSERT INTO "run" VALUES(1,'run0','2026-01-02T03:00:00Z','NVIDIA H200 GPU-00000000-0000-0000-0000-000000000000, 132 SMs, 140 GiB, ECC on, MIG off, 700 W, Example CPU, clocks default, Release','driver 580.1, libtorch 2.11.0','{"gpu":{"name":"NVIDIA H200","uuid":"GPU-00000000-0000-0000-0000-000000000000","compute_capability":"9.0","sm_count":132,"memory_bytes":150754820096,"l2_bytes":52428800,"ecc":true,"mig":false,"power_limit_w":700.0,"max_sm_clock_hz":1980000000.0,"other_processes":0},"cpu_name":"Example CPU","cpu_cores":16,"operating_system":"Debian GNU/Linux 12","clock_policy":"default","versions":{"compiler":"g++ 12.2.0","driver":"580.1","libtorch":"2.11.0"},"commit":"commit0","sources_digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","build_type":"Release","date":"2026-01-02T03:00:00Z"}',1,0,'');
INSERT INTO "run" VALUES(2,'run1','2026-01-03T03:00:00Z','NVIDIA H200 GPU-00000000-0000-0000-0000-000000000000, 132 SMs, 140 GiB, ECC on, MIG off, 700 W, Example CPU, clocks default, Release','driver 580.1, libtorch 2.11.0','{"gpu":{"name":"NVIDIA H200","uuid":"GPU-00000000-0000-0000-0000-000000000000","compute_capability":"9.0","sm_count":132,"memory_bytes":150754820096,"l2_bytes":52428800,"ecc":true,"mig":false,"power_limit_w":700.0,"max_sm_clock_hz":1980000000.0,"other_processes":0},"cpu_name":"Example CPU","cpu_cores":16,"operating_system":"Debian GNU/Linux 12","clock_policy":"default","versions":{"compiler":"g++ 12.2.0","driver":"580.1","libtorch":"2.11.0"},"commit":"commit1","sources_digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","build_type":"Release","date":"2026-01-03T03:00:00Z"}',1,0,'');
CREATE TABLE sample_digest (
        digest INTEGER NOT NULL,          -- of a record's samples
        run INTEGER NOT NULL REFERENCES run (id),
        PRIMARY KEY (digest, run)) WITHOUT ROWID;
CREATE INDEX run_by_series ON run (fingerprint, started);
CREATE INDEX file_of_run ON file (run);
CREATE INDEX finding_of_run ON finding (run);
COMMIT;
PRAGMA application_id=1952607843; PRAGMA user_version=6;
