#!/usr/bin/env bash
# Copy the jars of Apache Kafka (pom.xml beside this file) into .kafka/libs. Safe to run again; done once a version.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
target="$here/../../.kafka"
stamp="$target/pom.xml"

for program in java mvn; do
    if ! command -v "$program" >/dev/null; then
        echo "make kafka needs Java 17 and Maven; $program is not here (tests that need a broker will be skipped)" >&2
        exit 1
    fi
done
if cmp -s "$here/pom.xml" "$stamp"; then
    exit 0
fi
rm -rf "$target/fetching"
mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$target/fetching"
rm -rf "$target/libs"
mv "$target/fetching" "$target/libs"
cp "$here/pom.xml" "$stamp"
echo "Apache Kafka's jars are in .kafka/libs"
